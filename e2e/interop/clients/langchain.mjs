import { MultiServerMCPClient } from "@langchain/mcp-adapters";
import { headers, reportTools, url } from "./report.mjs";

const client = new MultiServerMCPClient({ mcpServers: { gateway: { transport: "http", url, headers } } });
const tools = await client.getTools();
await reportTools(Object.fromEntries(tools.map((tool) => [tool.name, tool])), (tool, args) => tool.invoke({ type: "tool_call", id: "1", name: tool.name, args }));
