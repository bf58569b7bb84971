// An agent with the TypeScript SDK's client, for the end-to-end tests: it asks the gateway for one of everything and prints what came, as
// one JSON object.
//
//   node agent.mjs URL TOKEN [PREFIX [SCHEME]]
//
// PREFIX and SCHEME stand before the names and URIs where the address is the one for all connectors.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const [url, token, prefix = "", scheme = ""] = process.argv.slice(2);

const client = new Client({ name: "agent", version: "1" }, { capabilities: { elicitation: { form: {} } } });
client.setRequestHandler(ElicitRequestSchema, () => ({ action: "accept", content: { name: "Robin" } }));
const headers = { Authorization: `Bearer ${token}` };
await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));

const call = (tool, args, options) => client.callTool({ name: prefix + tool, arguments: args }, undefined, options);
const refused = (promise) => promise.then(() => null, (error) => ({ code: error.code, message: error.message }));

// giveUp ends a call once the server has it.
async function giveUp() {
  const abort = new AbortController();
  const ended = refused(call("wait", {}, { signal: abort.signal, timeout: 60_000 }));
  for await (const line of process.stdin) {
    if (String(line).includes("waiting")) break;
  }
  abort.abort("enough");
  return ended;
}

const progress = [];
const out = {
  server: client.getServerVersion(),
  capabilities: Object.keys(client.getServerCapabilities()).sort(),
  tools: (await client.listTools()).tools.map((t) => t.name),
  prompts: (await client.listPrompts()).prompts.map((p) => p.name),
  resources: (await client.listResources()).resources.map((r) => r.uri),
  templates: (await client.listResourceTemplates()).resourceTemplates.map((t) => t.uriTemplate),
  echo: await call("echo", { text: "5 < 6 & ✓" }),
  fail: await call("fail", {}),
  misfit: await call("echo", { text: 7 }),
  unknown: await refused(call("nothing", {})),
  count: await call("count", {}, { onprogress: (p) => progress.push(p) }),
  progress,
  ask: await call("ask", {}),
  read: await client.readResource({ uri: scheme + "file:///notes.txt" }),
  greet: await client.getPrompt({ name: prefix + "greet", arguments: { name: "Ann" } }),
  complete: await client.complete({ ref: { type: "ref/prompt", name: prefix + "greet" }, argument: { name: "name", value: "An" } }),
  gaveUp: await giveUp(),
};
await client.ping();
console.log(JSON.stringify(out));
await client.close();
process.exit(0);
