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
import { text } from "node:stream/consumers";
import Provider, { errors } from "oidc-provider";
import { Window } from "./admin.mjs";
import { protect, resourceScopes } from "./protected-resource.mjs";

const server = createServer();
await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
const { port } = server.address();
const issuer = `http://localhost:${port}`;
const origin = `http://127.0.0.1:${port}`;

const window = new Window(Number(process.env.ACCESS_TOKEN_SECONDS ?? 3600));
const resources = new Set([`${origin}/mcp`, `${origin}/open/mcp`]);

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
        if (!resources.has(resource)) throw new errors.InvalidTarget();
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
  if (url.pathname === "/token" && !(await window.pass(res))) return;
  answer(req, res);
});
console.log(JSON.stringify({ issuer, origin }));

// interactions signs in whoever writes a name, and asks for consent.
function interactions(provider) {
  return async (ctx, next) => {
    const [, uid, step] = ctx.path.match(/^\/interaction\/([\w-]+)(?:\/(login|confirm|abort))?$/) ?? [];
    if (!uid) return next();
    const details = await provider.interactionDetails(ctx.req, ctx.res);
    if (ctx.method !== "POST") {
      ctx.type = "html";
      ctx.body = details.prompt.name === "login" ? signInPage(uid) : consentPage(uid, details);
      return;
    }
    const form = new URLSearchParams(await text(ctx.req));
    const result = {
      login: async () => ({ login: { accountId: form.get("login") } }),
      confirm: async () => ({ consent: { grantId: await consent(provider, details) } }),
      abort: async () => ({ error: "access_denied", error_description: "<b>REFLECTED</b>" }),
    };
    await provider.interactionFinished(ctx.req, ctx.res, await result[step](), { mergeWithLastSubmission: step === "confirm" });
  };
}

async function consent(provider, { grantId, session, params, prompt: { details } }) {
  const grant = grantId
    ? await provider.Grant.find(grantId)
    : new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
  if (details.missingOIDCScope) grant.addOIDCScope(details.missingOIDCScope.join(" "));
  if (details.missingOIDCClaims) grant.addOIDCClaims(details.missingOIDCClaims);
  for (const [resource, scopes] of Object.entries(details.missingResourceScopes ?? {})) {
    grant.addResourceScope(resource, scopes.join(" "));
  }
  return grant.save();
}

const page = (title, main) =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title><link rel="icon" href="data:,"><main><h1>${title}</h1>${main}</main></html>`;

const signInPage = (uid) =>
  page("Sign in", `<form id="login" method="post" action="/interaction/${uid}/login"><label>Account <input name="login" required></label><button>Sign in</button></form>`);

const consentPage = (uid, { params }) =>
  page("Allow access", `<form id="confirm" method="post" action="/interaction/${uid}/confirm"><p>${escape(params.scope ?? "")} at ${escape(String(params.resource ?? ""))}</p><button>Allow</button></form>
    <form id="abort" method="post" action="/interaction/${uid}/abort"><button>Deny</button></form>`);

const escape = (s) => s.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
