import { MCPServerStreamableHttp } from "@openai/agents";
import { headers, report, url } from "./report.mjs";

const server = new MCPServerStreamableHttp({ url, name: "gateway", requestInit: { headers } });
await server.connect();
await report({ list: async () => (await server.listTools()).map((tool) => tool.name), call: (name, args) => server.callTool(name, args) });
