// A server of Mastra on a port.
import { createServer } from "node:http";
import { createTool } from "@mastra/core/tools";
import { MCPServer } from "@mastra/mcp";
import { z } from "zod";

const port = Number(process.argv[2]);
const add = createTool({
  id: "add", description: "Adds two integers.", inputSchema: z.object({ a: z.int(), b: z.int() }), outputSchema: z.object({ sum: z.int() }),
  execute: async ({ a, b }) => ({ sum: a + b }),
});
const server = new MCPServer({ id: "mastra", name: "mastra", version: "1.0.0", tools: { add } });
createServer((req, res) => server.startHTTP({ url: new URL(req.url, `http://localhost:${port}`), httpPath: "/mcp", req, res })).listen(port);
