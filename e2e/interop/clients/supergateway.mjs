import { token, url } from "./report.mjs";
import { reportBridge } from "./sdk.mjs";

await reportBridge("supergateway/dist/index.js", ["--streamableHttp", url, "--oauth2Bearer", token]);
