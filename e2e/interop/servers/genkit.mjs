// A server of Genkit over standard input and output.
import { createMcpServer } from "@genkit-ai/mcp";
import { genkit, z } from "genkit";

const ai = genkit({});
ai.defineTool({ name: "add", description: "Adds two integers.", inputSchema: z.object({ a: z.number(), b: z.number() }), outputSchema: z.object({ sum: z.number() }) }, async ({ a, b }) => ({ sum: a + b }));
await createMcpServer(ai, { name: "genkit", version: "1.0.0" }).start();
