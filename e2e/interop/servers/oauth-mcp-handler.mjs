// A server of mcp-handler on a port that asks for a token.
import { createServer } from "node:http";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, protectedResourceHandler, withMcpAuth } from "mcp-handler";
import { addTool } from "./add.mjs";
import { issuer, port, resource, scopes, verifyToken } from "./authorization.mjs";

const metadataPath = "/.well-known/oauth-protected-resource/mcp";
const metadata = protectedResourceHandler({ authServerUrls: [issuer], resourceUrl: resource });
const mcp = withMcpAuth(createMcpHandler(addTool), (_req, token) => token && verifyToken(token), {
  required: true, requiredScopes: scopes, resourceMetadataPath: metadataPath,
});
createServer(toNodeHandler({ fetch: (req) => new URL(req.url).pathname === metadataPath ? metadata(req) : mcp(req) })).listen(Number(port));
