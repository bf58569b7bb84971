import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { headers, url } from "./report.mjs";
import { reportSession } from "./sdk.mjs";

const client = new Client({ name: "ts-v2", version: "1" }, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
await reportSession(client);
