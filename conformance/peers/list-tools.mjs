// An agent with the TypeScript SDK's client: it lists all tools, prints their number, and then calls one for each line of the standard input,
// {"name": …, "arguments": …}. It prints each result as one line of JSON.
//
//   node list-tools.mjs URL TOKEN
import { createInterface } from "node:readline";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [url, token] = process.argv.slice(2);
const client = new Client({ name: "list-tools", version: "1" });
await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { Authorization: `Bearer ${token}` } } }));

let tools = 0;
let cursor;
do {
  const page = await client.listTools({ cursor });
  tools += page.tools.length;
  cursor = page.nextCursor;
} while (cursor);
console.log(JSON.stringify({ tools }));

for await (const line of createInterface({ input: process.stdin })) {
  const result = await client.callTool(JSON.parse(line)).catch((error) => ({ isError: true, content: [], error: error.message }));
  console.log(JSON.stringify(result));
}
await client.close();
process.exit(0);
