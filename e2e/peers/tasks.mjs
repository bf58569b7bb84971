// A client with tasks of MCP 2025-11-25 (TypeScript SDK), for the end-to-end tests: it calls a tool as a task, follows the task, and prints
// what came, as one JSON object. A line on standard output for each state before that.
//
//   node tasks.mjs URL TOKEN TOOL ARGUMENTS
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { CallToolResultSchema, ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const [url, token, tool, args] = process.argv.slice(2);

const client = new Client({ name: "agent", version: "1" }, { capabilities: { elicitation: { form: {} } } });
client.setRequestHandler(ElicitRequestSchema, () => ({ action: "accept", content: { interpretation: "technical" } }));
const headers = { Authorization: `Bearer ${token}` };
await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));

const out = { support: (await client.listTools()).tools.find((t) => t.name === tool)?.execution?.taskSupport, statuses: [] };
const stream = client.experimental.tasks.callToolStream({ name: tool, arguments: JSON.parse(args) }, CallToolResultSchema, { task: { ttl: 60_000 } });
for await (const message of stream) {
  switch (message.type) {
    case "taskCreated":
      out.id = message.task.taskId;
      break;
    case "taskStatus":
      out.statuses.push(message.task.status);
      break;
    case "result":
      out.result = message.result;
      break;
    case "error":
      out.error = message.error.message;
  }
}
out.listed = (await client.experimental.tasks.listTasks()).tasks.map((t) => ({ id: t.taskId, status: t.status }));
console.log(JSON.stringify(out));
await client.close();
process.exit(0);
