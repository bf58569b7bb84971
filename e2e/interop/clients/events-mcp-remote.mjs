import { token, url } from "./report.mjs";
import { openBridge, reportEvents } from "./sdk.mjs";

await reportEvents(await openBridge("mcp-remote/dist/proxy.js", [url, "--header", `Authorization: Bearer ${token}`]));
