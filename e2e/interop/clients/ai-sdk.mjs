import { createMCPClient } from "@ai-sdk/mcp";
import { headers, reportTools, url } from "./report.mjs";

const client = await createMCPClient({ transport: { type: "http", url, headers } });
await reportTools(await client.tools(), (tool, args) => tool.execute(args, { toolCallId: "1", messages: [] }));
