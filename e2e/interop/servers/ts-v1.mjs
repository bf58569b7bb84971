// A server of the TypeScript SDK v1 on a port, without sessions, that replies with JSON.
import { createServer } from "node:http";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { z } from "zod";

createServer(async (req, res) => {
  const server = new McpServer({ name: "ts-v1", version: "1.0.0" });
  server.registerTool("add", {
    description: "Adds two integers.", inputSchema: { a: z.int(), b: z.int() }, outputSchema: { sum: z.int() },
  }, async ({ a, b }) => ({ content: [{ type: "text", text: String(a + b) }], structuredContent: { sum: a + b } }));
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined, enableJsonResponse: true });
  await server.connect(transport);
  await transport.handleRequest(req, res);
}).listen(Number(process.argv[2]));
