// An admin's assistant with the TypeScript SDK's client, for the end-to-end tests: it registers a server at /mcp/admin, syncs and grants it, and
// prints what came, as one JSON object. Its person agrees to whatever they are asked.
//
//   node assistant.mjs URL KEY SERVER AGENT
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const [url, key, server, agent] = process.argv.slice(2);

const asked = [];
const client = new Client({ name: "assistant", version: "1" }, { capabilities: { elicitation: { form: {} } } });
client.setRequestHandler(ElicitRequestSchema, (request) => {
  asked.push(request.params.message);
  return { action: "accept", content: { agree: true } };
});
const headers = { Authorization: `Bearer ${key}` };
await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));

const call = (name, args) => client.callTool({ name, arguments: args });
const refused = (promise) => promise.then(() => null, (error) => ({ code: error.code, message: error.message }));

const out = {
  tools: (await client.listTools()).tools.map((t) => t.name), // from here on the client holds results against their schemas
  prompts: (await client.listPrompts()).prompts.map((p) => p.name),
  templates: (await client.listResourceTemplates()).resourceTemplates.map((t) => t.uriTemplate),
  added: await call("add_connector", { name: "Everything", url: server }),
  synced: await call("sync_tools", { connector: "everything" }),
  granted: await call("grant_tools", { agent, connector: "everything", tools: ["echo"] }),
  connectors: await call("list_connectors", {}),
  agents: await call("list_agents", {}),
  calls: await call("list_tool_calls", {}),
  changes: await call("list_tool_changes", { state: "any" }),
  why: await call("explain_access", { agent, tool: "mcp_everything__echo" }),
  resources: (await client.listResources()).resources.map((r) => r.uri),
  read: await client.readResource({ uri: "patchbay://tools/everything/echo" }),
  prompt: await client.getPrompt({ name: "least_privilege", arguments: { agent } }),
  complete: await client.complete({ ref: { type: "ref/prompt", name: "least_privilege" }, argument: { name: "agent", value: agent.slice(0, 2) } }),
  misfit: await refused(call("list_connectors", { limit: 1000 })),
  missing: await call("sync_tools", { connector: "nothing" }),
  asked,
};
console.log(JSON.stringify(out));
await client.close();
process.exit(0);
