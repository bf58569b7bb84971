import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { headers, url } from "./report.mjs";
import { reportEvents } from "./sdk.mjs";

const client = new Client({ name: "ts-v1", version: "1" });
await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
await reportEvents(client);
