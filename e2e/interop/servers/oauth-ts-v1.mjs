// A server of the TypeScript SDK v1 on a port that asks for a token.
import { requireBearerAuth } from "@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js";
import { InvalidTokenError } from "@modelcontextprotocol/sdk/server/auth/errors.js";
import { getOAuthProtectedResourceMetadataUrl, mcpAuthMetadataRouter } from "@modelcontextprotocol/sdk/server/auth/router.js";
import { createMcpExpressApp } from "@modelcontextprotocol/sdk/server/express.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { addTool } from "./add.mjs";
import { oauthMetadata, port, resource, scopes, verifyToken } from "./authorization.mjs";

async function verifyAccessToken(token) {
  const found = await verifyToken(token);
  if (!found) throw new InvalidTokenError("unknown");
  return found;
}

const url = new URL(resource);
const app = createMcpExpressApp();
app.use(mcpAuthMetadataRouter({ oauthMetadata, resourceServerUrl: url, scopesSupported: scopes }));
const auth = { verifier: { verifyAccessToken }, requiredScopes: scopes, resourceMetadataUrl: getOAuthProtectedResourceMetadataUrl(url) };
app.all("/mcp", requireBearerAuth(auth), async (req, res) => {
  const server = new McpServer({ name: "ts-v1", version: "1.0.0" });
  addTool(server);
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
  await server.connect(transport);
  await transport.handleRequest(req, res, req.body);
});
app.listen(Number(port));
