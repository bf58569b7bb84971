// A server of fastmcp on a port, with Streamable HTTP at /mcp and HTTP+SSE at /sse.
import { FastMCP } from "fastmcp";
import { z } from "zod";

const server = new FastMCP({ name: "fastmcp", version: "1.0.0" });
server.addTool({
  name: "add", description: "Adds two integers.", parameters: z.object({ a: z.int(), b: z.int() }),
  execute: async ({ a, b }) => String(a + b),
});
await server.start({ transportType: "httpStream", httpStream: { port: Number(process.argv[2]) } });
