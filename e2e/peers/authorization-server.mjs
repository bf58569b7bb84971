// A real authorization server (oidc-provider) and an MCP server that it protects (server-everything), on one loopback port.
//
//   http://localhost:PORT      the issuer: discovery, dynamic registration, PKCE, resource indicators, rotating refresh tokens,
//                              revocation, iss; its sign-in and consent are plain forms
//   http://127.0.0.1:PORT      the MCP servers /mcp and /open/mcp, see protected-resource.mjs
//   http://127.0.0.1:PORT/admin/…   the test's window and its levers, see admin.mjs
//
// The two names make two sites of them, as browsers see it. Environment: ACCESS_TOKEN_SECONDS (3600). When it is ready, it prints
// one line of JSON.
import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import Provider, { errors } from "oidc-provider";
import { Window } from "./admin.mjs";
import { interactions } from "./interactions.mjs";
import { protect, resourceScopes } from "./protected-resource.mjs";

const server = createServer();
await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
const { port } = server.address();
const issuer = `http://localhost:${port}`;
const origin = `http://127.0.0.1:${port}`;

const window = new Window(Number(process.env.ACCESS_TOKEN_SECONDS ?? 3600));
const resources = new Set([`${origin}/mcp`, `${origin}/open/mcp`]);
const isOther = (resource) => /^http:\/\/localhost:\d+\/mcp$/.test(resource); // a server of another process

const provider = new Provider(issuer, {
  cookies: { keys: [randomBytes(32).toString("hex")] },
  scopes: ["openid", "offline_access"],
  claims: { openid: ["sub"], email: ["email"] },
  conformIdTokenClaims: false, // the e-mail address stands in the id token
  pkce: { required: () => true },
  rotateRefreshToken: true,
  ttl: { AccessToken: () => window.seconds, Session: 3600, Grant: 86400, Interaction: 600, IdToken: 600, RefreshToken: 86400 },
  findAccount: (_ctx, id) => ({ accountId: id, claims: () => ({ sub: id, email: id }) }),
  interactions: { url: (_ctx, interaction) => `/interaction/${interaction.uid}` },
  features: {
    devInteractions: { enabled: false },
    registration: { enabled: true },
    revocation: { enabled: true },
    introspection: { enabled: true },
    clientCredentials: { enabled: true },
    resourceIndicators: {
      enabled: true,
      // As RFC 8707 allows: without a resource there is no token for a resource.
      getResourceServerInfo: (_ctx, resource) => {
        if (!resources.has(resource) && !isOther(resource)) throw new errors.InvalidTarget();
        return { scope: resourceScopes.join(" "), audience: resource, accessTokenFormat: "opaque" };
      },
      useGrantedResource: () => false,
    },
  },
});
provider.use(window.watch(provider));
provider.use(interactions(provider));

const answer = provider.callback();
const mcp = protect({ provider, issuer, origin, resources });
server.on("request", async (req, res) => {
  const url = new URL(req.url, origin);
  if (url.pathname.startsWith("/admin/")) return window.admin(url, req, res);
  if (await mcp(url, req, res)) return;
  if (["/token", "/token/revocation"].includes(url.pathname) && !(await window.pass(res))) return;
  answer(req, res);
});
console.log(JSON.stringify({ issuer, origin }));
