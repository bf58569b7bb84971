// A server of tmcp on a port, with Streamable HTTP at /mcp and HTTP+SSE at /sse.
import { createServer } from "node:http";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { ZodJsonSchemaAdapter } from "@tmcp/adapter-zod";
import { HttpTransport } from "@tmcp/transport-http";
import { SseTransport } from "@tmcp/transport-sse";
import { McpServer } from "tmcp";
import { z } from "zod";

const server = new McpServer({ name: "tmcp", version: "1.0.0" }, { adapter: new ZodJsonSchemaAdapter(), capabilities: { tools: {} } });
server.tool({
  name: "add", description: "Adds two integers.", schema: z.object({ a: z.int(), b: z.int() }), outputSchema: z.object({ sum: z.int() }),
}, async ({ a, b }) => ({ content: [{ type: "text", text: String(a + b) }], structuredContent: { sum: a + b } }));
const http = new HttpTransport(server, { path: "/mcp" });
const sse = new SseTransport(server, { path: "/sse", endpoint: "/message" });
const respond = async (request) => await http.respond(request) ?? await sse.respond(request) ?? new Response(null, { status: 404 });
createServer(toNodeHandler({ fetch: respond })).listen(Number(process.argv[2]));
