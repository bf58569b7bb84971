// A server of mcp-use on a port.
import { MCPServer, text } from "mcp-use";
import { z } from "zod";

const server = new MCPServer({ name: "mcp-use", version: "1.0.0" });
server.tool({ name: "add", description: "Adds two integers.", inputSchema: z.object({ a: z.int(), b: z.int() }) }, async ({ a, b }) => text(String(a + b)));
await server.listen(Number(process.argv[2]));
