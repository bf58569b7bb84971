import { MCPClient } from "@mastra/mcp";
import { headers, reportTools, url } from "./report.mjs";

const client = new MCPClient({ servers: { gateway: { url: new URL(url), requestInit: { headers } } } });
await reportTools(await client.listTools(), (tool, args) => tool.execute(args, {}));
