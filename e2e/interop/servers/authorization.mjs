// verifyToken asks the authorization server about a token for this resource.
//
//   node oauth-….mjs PORT ISSUER
export const [port, issuer] = process.argv.slice(2);
export const resource = `http://localhost:${port}/mcp`;
export const scopes = ["tools:call"]; // the authorization server grants nothing to a request without scopes

const metadata = await (await fetch(`${issuer}/.well-known/openid-configuration`)).json();
export const oauthMetadata = metadata;
const client = await (await fetch(metadata.registration_endpoint, {
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify({ client_name: "resource server", redirect_uris: [`http://localhost:${port}/`], token_endpoint_auth_method: "client_secret_basic" }),
})).json();
const basic = Buffer.from([client.client_id, client.client_secret].map(encodeURIComponent).join(":")).toString("base64");

export async function verifyToken(token) {
  const res = await fetch(metadata.introspection_endpoint, {
    method: "POST", headers: { Authorization: `Basic ${basic}` }, body: new URLSearchParams({ token }),
  });
  const found = await res.json();
  if (!found.active || found.aud !== resource) return undefined;
  return { token, clientId: found.client_id, scopes: (found.scope ?? "").split(" "), expiresAt: found.exp };
}
