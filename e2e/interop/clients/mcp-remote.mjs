import { token, url } from "./report.mjs";
import { openBridge, reportSession } from "./sdk.mjs";

await reportSession(await openBridge("mcp-remote/dist/proxy.js", [url, "--header", `Authorization: Bearer ${token}`]));
