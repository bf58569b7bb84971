// A program with panva's oauth4webapi that binds its tokens to a key (DPoP), for the end-to-end tests: it registers, signs in, calls a tool,
// refreshes its tokens and calls again. Then it does what a thief would: the token as Bearer, a used proof, and a refresh with another key.
//
//   node dpop.mjs URL TOOL ARGUMENTS
//
// It prints a JSON object a line: {"open"}, the address that a browser is to open, and {"type", "refreshed", "called", "again", "thief"}.
import { once } from "node:events";
import { createServer } from "node:http";
import * as oauth from "oauth4webapi";

const [url, tool, args] = process.argv.slice(2);
const say = (what) => console.log(JSON.stringify(what));
const http = { [oauth.allowInsecureRequests]: true };

const server = createServer().listen(0, "127.0.0.1");
await once(server, "listening");
const redirect = `http://127.0.0.1:${server.address().port}/callback`;
const answer = new Promise((came) =>
  server.on("request", (req, res) => {
    const to = new URL(req.url, redirect);
    if (to.pathname === "/callback") came(to);
    res.end("You can close this window.");
  }),
);

const resource = await oauth.processResourceDiscoveryResponse(new URL(url), await oauth.resourceDiscoveryRequest(new URL(url), http));
const issuer = new URL(resource.authorization_servers[0]);
const as = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, { algorithm: "oauth2", ...http }));
if (!as.dpop_signing_alg_values_supported.includes("ES256")) throw new Error("the metadata names no ES256");
const client = await oauth.processDynamicClientRegistrationResponse(
  await oauth.dynamicClientRegistrationRequest(
    as,
    { client_name: "oauth4webapi", redirect_uris: [redirect], token_endpoint_auth_method: "none", dpop_bound_access_tokens: true },
    http,
  ),
);
const DPoP = oauth.DPoP(client, await oauth.generateKeyPair("ES256"));
const verifier = oauth.generateRandomCodeVerifier();
const at = new URL(as.authorization_endpoint);
at.search = new URLSearchParams({
  client_id: client.client_id, redirect_uri: redirect, response_type: "code", state: "their-state", resource: url, dpop_jkt: await DPoP.calculateThumbprint(),
  code_challenge: await oauth.calculatePKCECodeChallenge(verifier), code_challenge_method: "S256",
});
say({ open: at.href });
const params = oauth.validateAuthResponse(as, client, await answer, "their-state");
const tokens = await oauth.processAuthorizationCodeResponse(
  as, client, await oauth.authorizationCodeGrantRequest(as, client, oauth.None(), params, redirect, verifier, { DPoP, ...http }),
);

const message = JSON.stringify({
  jsonrpc: "2.0", id: 1, method: "tools/call",
  params: {
    name: tool, arguments: JSON.parse(args),
    _meta: {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientInfo": { name: "program", version: "1" },
      "io.modelcontextprotocol/clientCapabilities": {},
    },
  },
});
const headers = {
  "content-type": "application/json", accept: "application/json, text/event-stream", "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": tool,
};
let sent;
const call = async (token) => {
  const remember = (to, init) => fetch(to, (sent = init));
  const res = await oauth.protectedResourceRequest(token, "POST", new URL(url), new Headers(headers), message, { DPoP, ...http, [oauth.customFetch]: remember });
  return (await res.json()).result;
};
const refresh = (proof) => oauth.refreshTokenGrantRequest(as, client, oauth.None(), tokens.refresh_token, { DPoP: proof, ...http });
const called = await call(tokens.access_token);
const replay = await fetch(url, sent);
const bearer = await fetch(url, { method: "POST", headers: { ...headers, authorization: `Bearer ${tokens.access_token}` }, body: message });
const other = await refresh(oauth.DPoP(client, await oauth.generateKeyPair("ES256")));
const renewed = await oauth.processRefreshTokenResponse(as, client, await refresh(DPoP));
const again = await call(renewed.access_token);
say({
  type: tokens.token_type, refreshed: renewed.token_type, called, again,
  thief: {
    replay: replay.headers.get("www-authenticate"), bearer: bearer.headers.get("www-authenticate"), other: (await other.json()).error,
    statuses: [replay.status, bearer.status, other.status],
  },
});
process.exit(0);
