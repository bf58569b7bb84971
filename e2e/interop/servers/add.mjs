// addTool registers a tool with a structured result at a server of the TypeScript SDK v2.
import { z } from "zod";

export function addTool(server) {
  server.registerTool("add", {
    description: "Adds two integers.", inputSchema: z.object({ a: z.int(), b: z.int() }), outputSchema: z.object({ sum: z.int() }),
  }, async ({ a, b }) => ({ content: [{ type: "text", text: String(a + b) }], structuredContent: { sum: a + b } }));
}
