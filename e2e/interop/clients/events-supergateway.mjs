import { token, url } from "./report.mjs";
import { openBridge, reportEvents } from "./sdk.mjs";

await reportEvents(await openBridge("supergateway/dist/index.js", ["--streamableHttp", url, "--oauth2Bearer", token]));
