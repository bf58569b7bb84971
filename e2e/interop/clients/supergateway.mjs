import { token, url } from "./report.mjs";
import { openBridge, reportSession } from "./sdk.mjs";

await reportSession(await openBridge("supergateway/dist/index.js", ["--streamableHttp", url, "--oauth2Bearer", token]));
