import { token, url } from "./report.mjs";
import { reportBridge } from "./sdk.mjs";

await reportBridge("mcp-remote/dist/proxy.js", [url, "--header", `Authorization: Bearer ${token}`]);
