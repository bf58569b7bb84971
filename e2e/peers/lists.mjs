// Agents with the TypeScript SDKs' clients that read every list at each address, for the end-to-end tests.
//
//   node lists.mjs TOKEN URL…
//
// It prints a JSON object for each address and client: {"url", "client", "lists"}. lists has the names or URIs of each list, or the error
// with which the client refused it. Of a lean list, "found" is the tool that was found, and what it answered. "error" stands in place of lists where the client did not connect.
import * as newest from "@modelcontextprotocol/client";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [token, ...urls] = process.argv.slice(2);
const info = { name: "agent", version: "1" };
const requestInit = { headers: { Authorization: `Bearer ${token}` } };
console.debug = console.warn = () => {};

const clients = {
  "v1": [() => new Client(info), StreamableHTTPClientTransport],
  "v2": [() => new newest.Client(info), newest.StreamableHTTPClientTransport],
  "v2 2026-07-28": [() => new newest.Client(info, { versionNegotiation: { mode: { pin: "2026-07-28" } } }), newest.StreamableHTTPClientTransport],
};
const lists = {
  tools: ["listTools", "name"], prompts: ["listPrompts", "name"], resources: ["listResources", "uri"], resourceTemplates: ["listResourceTemplates", "uriTemplate"],
};

async function read(client, list) {
  const [method, key] = lists[list];
  const all = [];
  for (let cursor; ; ) {
    const page = await client[method](cursor && { cursor });
    all.push(...page[list].map((entry) => entry[key]));
    cursor = page.nextCursor;
    if (!cursor) return all;
  }
}

// find looks for a tool that echoes, and calls it as its entry says.
async function find(client) {
  const found = await client.callTool({ name: "find_tools", arguments: { words: "echo a text" } });
  const { call_with: name, definition } = found.structuredContent.tools[0];
  const answer = await client.callTool({ name, arguments: { name: definition.name, arguments: { text: "hello" } } });
  return [definition.name, answer.content[0].text];
}

for (const url of urls) {
  for (const [name, [make, Transport]] of Object.entries(clients)) {
    const out = { url, client: name };
    const client = make();
    try {
      await client.connect(new Transport(new URL(url), { requestInit }));
      out.lists = {};
      for (const list of Object.keys(lists)) {
        out.lists[list] = await read(client, list).catch((error) => [`refused: ${error.message}`]);
      }
      if (out.lists.tools.includes("find_tools")) out.found = await find(client);
      await client.close();
    } catch (error) {
      out.error = error.message;
    }
    console.log(JSON.stringify(out));
  }
}
process.exit(0);
