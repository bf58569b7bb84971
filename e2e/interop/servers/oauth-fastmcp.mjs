// A server of fastmcp on a port that asks for a token.
import { FastMCP } from "fastmcp";
import { z } from "zod";
import { issuer, port, resource, scopes, verifyToken } from "./authorization.mjs";

const server = new FastMCP({
  name: "fastmcp", version: "1.0.0",
  oauth: { enabled: true, protectedResource: { resource, authorizationServers: [issuer], scopesSupported: scopes } },
  async authenticate(req) {
    const found = await verifyToken(req.headers.authorization?.replace(/^Bearer /, "") ?? "");
    if (!found) throw new Response(null, { status: 401 });
    return found;
  },
});
server.addTool({
  name: "add", description: "Adds two integers.", parameters: z.object({ a: z.int(), b: z.int() }),
  execute: async ({ a, b }) => String(a + b),
});
await server.start({ transportType: "httpStream", httpStream: { port: Number(port) } });
