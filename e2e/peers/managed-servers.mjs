// MCP servers with enterprise-managed authorization, each with an authorization server of its own (oidc-provider): it takes identity
// assertions (ID-JAG) of one identity provider, and has sign-in pages that are only counted.
//
// Environment: COUNT; TRUSTED_ISSUER, the identity provider; CLIENT_SECRET, of the client "patchbay" at each; ACCESS_TOKEN_SECONDS.
// Without CLIENT_SECRET, the issuer is a cluster, and the client's grant is the JWT of the workload WORKLOAD (RFC 7523).
// When they are ready, it prints one line of JSON: {"servers": [{"issuer": "http://localhost:1", "url": "http://127.0.0.1:1/mcp"}]}.
// GET /admin/counts is a server's requests for pages, and what it issued to which subjects.
import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import { createRemoteJWKSet, jwtVerify } from "jose";
import Provider, { errors } from "oidc-provider";
import { protect, resourceScopes } from "./protected-resource.mjs";

const { COUNT, TRUSTED_ISSUER, CLIENT_SECRET, ACCESS_TOKEN_SECONDS, WORKLOAD } = process.env;
const client = CLIENT_SECRET ? { client_secret: CLIENT_SECRET } : { token_endpoint_auth_method: "none" };
const identity = { typ: "oauth-id-jag+jwt", maxTokenAge: "5m" };
const workload = { subject: WORKLOAD };
const jwtBearer = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const metadata = await (await fetch(`${TRUSTED_ISSUER}/.well-known/openid-configuration`)).json();
const keys = createRemoteJWKSet(new URL(metadata.jwks_uri));

const servers = await Promise.all(Array.from({ length: Number(COUNT) }, start));
console.log(JSON.stringify({ servers }));

async function start() {
  const server = createServer();
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  const { port } = server.address();
  const issuer = `http://localhost:${port}`;
  const origin = `http://127.0.0.1:${port}`;
  const resource = `${origin}/mcp`;
  const counts = { pages: 0, subjects: [], issued: [] };

  const provider = new Provider(issuer, {
    cookies: { keys: [randomBytes(32).toString("hex")] },
    clients: [{ client_id: "patchbay", ...client, redirect_uris: [], grant_types: [jwtBearer], response_types: [] }],
    discovery: { authorization_grant_profiles_supported: WORKLOAD ? [] : ["urn:ietf:params:oauth:grant-profile:id-jag"] },
    ttl: { AccessToken: () => Number(ACCESS_TOKEN_SECONDS) },
    findAccount: (_ctx, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
    features: {
      devInteractions: { enabled: false },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_ctx, asked) => {
          if (asked !== resource) throw new errors.InvalidTarget();
          return { scope: resourceScopes.join(" "), audience: asked, accessTokenFormat: "opaque" };
        },
      },
    },
  });
  const used = new Set();
  provider.registerGrantType(jwtBearer, async (ctx) => {
    const { client, params } = ctx.oidc;
    const { payload } = await jwtVerify(params.assertion ?? "", keys, { issuer: TRUSTED_ISSUER, audience: issuer, ...(WORKLOAD ? workload : identity) })
      .catch((err) => { throw new errors.InvalidGrant(err.code); });
    if (!WORKLOAD) {
      if (payload.client_id !== client.clientId || payload.resource !== resource || used.has(payload.jti)) throw new errors.InvalidGrant("another client or resource, or used");
      used.add(payload.jti);
    }
    const token = new provider.AccessToken({ accountId: payload.sub, client, gty: jwtBearer, scope: resourceScopes.join(" ") });
    token.resourceServer = new provider.ResourceServer(resource, { audience: resource, scope: resourceScopes.join(" "), accessTokenFormat: "opaque" });
    const value = await token.save();
    counts.subjects.push(payload.sub);
    counts.issued.push(value, params.assertion);
    ctx.body = { access_token: value, token_type: "Bearer", expires_in: token.expiration, scope: token.scope };
  }, ["assertion", "resource", "scope"]);

  const answer = provider.callback();
  const mcp = protect({ provider, issuer, origin, resources: new Set([resource]) });
  server.on("request", async (req, res) => {
    const url = new URL(req.url, origin);
    if (url.pathname === "/admin/counts") return res.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(counts));
    if (await mcp(url, req, res)) return;
    if (/^\/(auth|interaction)\b/.test(url.pathname)) counts.pages++;
    answer(req, res);
  });
  return { issuer, url: resource };
}
