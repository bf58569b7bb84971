// MCP servers that ask for a token: server-everything, as it is published, behind the check of RFC 9728 and RFC 8707.
//
//   /mcp        every request needs a token
//   /open/mcp   lists openly; tools/call needs a token
import { randomUUID } from "node:crypto";
import { json } from "node:stream/consumers";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { createServer } from "@modelcontextprotocol/server-everything/dist/server/index.js";

export const resourceScopes = ["tools:read", "tools:call"];
const asked = ["openid", "email", ...resourceScopes].join(" ");
const wellKnown = "/.well-known/oauth-protected-resource";

// protect returns a handler that tells whether the request was its own.
export function protect({ provider, issuer, origin, resources }) {
  const sessions = new Map();

  // good tells whether a token lives, and was issued for this very resource.
  const good = async (token, resource) => {
    const found = (await provider.AccessToken.find(token)) ?? (await provider.ClientCredentials.find(token));
    const granted = !found?.grantId || (await provider.Grant.find(found.grantId));
    return Boolean(found?.isValid && found.aud === resource && granted);
  };

  return async (url, req, res) => {
    if (url.pathname.startsWith(`${wellKnown}/`)) {
      const resource = origin + url.pathname.slice(wellKnown.length);
      if (!resources.has(resource)) return reply(res, 404, {});
      return reply(res, 200, { resource, authorization_servers: [issuer], scopes_supported: asked.split(" "), bearer_methods_supported: ["header"] });
    }
    const resource = origin + url.pathname;
    if (!resources.has(resource)) return false;
    const body = req.method === "POST" ? await json(req).catch(() => null) : undefined;
    const open = url.pathname.startsWith("/open/") && body?.method !== "tools/call";
    const [, token] = req.headers.authorization?.match(/^Bearer (.+)$/) ?? [];
    if (token ? !(await good(token, resource)) : !open) {
      const metadata = origin + wellKnown + url.pathname;
      return reply(res, 401, { error: token ? "invalid_token" : "unauthorized" }, {
        "www-authenticate": `Bearer ${token ? 'error="invalid_token", ' : ""}resource_metadata="${metadata}", scope="${asked}"`,
      });
    }
    return speak(sessions, req, res, body);
  };
}

// speak hands the request to its session, or to a new one.
async function speak(sessions, req, res, body) {
  let transport = sessions.get(req.headers["mcp-session-id"]);
  if (!transport) {
    if (body?.method !== "initialize") {
      const missing = req.headers["mcp-session-id"] ? 404 : 400;
      return reply(res, missing, { jsonrpc: "2.0", id: body?.id ?? null, error: { code: -32000, message: "No valid session" } });
    }
    const { server, cleanup } = createServer();
    transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => sessions.set(id, transport),
    });
    server.server.onclose = () => {
      sessions.delete(transport.sessionId);
      cleanup(transport.sessionId);
    };
    await server.connect(transport);
  }
  await transport.handleRequest(req, res, body);
  return true;
}

function reply(res, status, body, headers = {}) {
  res.writeHead(status, { "content-type": "application/json", ...headers });
  res.end(JSON.stringify(body));
  return true;
}
