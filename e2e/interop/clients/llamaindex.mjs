import { mcp } from "@llamaindex/tools";
import { headers, reportTools, url } from "./report.mjs";

const server = mcp({ url, requestInit: { headers } });
const tools = await server.tools();
await reportTools(Object.fromEntries(tools.map((tool) => [tool.metadata.name, tool])), (tool, args) => tool.call(args));
