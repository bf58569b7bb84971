import { createMcpClient } from "@genkit-ai/mcp";
import { genkit } from "genkit";
import { headers, report, url } from "./report.mjs";

const client = createMcpClient({ name: "patchbay", mcpServer: { url, requestInit: { headers } } });
await client.ready();
const tools = await client.getActiveTools(genkit({}));
const nameOf = (tool) => tool.__action.name.replace(/^.*\//, "");
await report({
  list: async () => tools.map(nameOf),
  call: (name, args) => tools.find((tool) => nameOf(tool) === name)(args),
});
