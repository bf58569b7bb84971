// An organisation's OpenID provider (oidc-provider) on a loopback port, http://localhost:PORT: its one client is Patchbay, and it tells of a
// person what PEOPLE says, in the id token: address, whether that is verified, groups.
//
// Environment: CLIENT_ID, CLIENT_SECRET, REDIRECT_URI; PEOPLE, as JSON: {"ada@acme.example": {"verified": true, "groups": ["engineers"]}}.
// Its client "program", with the same secret, needs no consent, and clients may exchange sign-ins for identity assertions, see
// identity-exchange.mjs. When it is ready, it prints one line of JSON.
import { createHash, generateKeyPairSync, randomBytes, randomUUID } from "node:crypto";
import { createServer } from "node:http";
import Provider from "oidc-provider";
import { exchangeGrant, Policy, registerExchange } from "./identity-exchange.mjs";
import { interactions } from "./interactions.mjs";

const server = createServer();
await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
const issuer = `http://localhost:${server.address().port}`;
const { CLIENT_ID, CLIENT_SECRET, REDIRECT_URI, PEOPLE } = process.env;
const people = JSON.parse(PEOPLE);

// A subject says nothing of the address.
const subjectOf = (email) => createHash("sha256").update(email).digest("hex").slice(0, 24);
const bySubject = new Map(Object.entries(people).map(([email, person]) => [subjectOf(email), { email, ...person }]));
const policy = new Policy();
const jwk = { ...generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ format: "jwk" }), alg: "RS256", use: "sig", kid: randomUUID() };
const asClient = (client_id, redirect_uri) => ({
  client_id, client_secret: CLIENT_SECRET, redirect_uris: [redirect_uri], grant_types: ["authorization_code", exchangeGrant], response_types: ["code"],
});
const findAccount = (_ctx, id) => {
  const person = bySubject.get(id);
  if (!person || policy.suspended.includes(person.email)) return undefined;
  return { accountId: id, claims: () => ({ sub: id, email: person.email, email_verified: person.verified, name: person.name, groups: person.groups }) };
};

const provider = new Provider(issuer, {
  cookies: { keys: [randomBytes(32).toString("hex")] },
  jwks: { keys: [jwk] },
  clients: [asClient(CLIENT_ID, REDIRECT_URI), asClient("program", `${issuer}/admin/done`)],
  claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"], groups: ["groups"] },
  conformIdTokenClaims: false, // address and groups stand in the id token
  pkce: { required: () => true },
  ttl: { AccessToken: 3600, Session: 3600, Grant: 86400, Interaction: 600, IdToken: 600 },
  findAccount,
  loadExistingGrant: async (ctx) => {
    const { client, session, result } = ctx.oidc;
    const known = result?.consent?.grantId ?? session.grantIdFor(client.clientId);
    if (known) return provider.Grant.find(known);
    if (client.clientId !== "program") return undefined;
    const grant = new provider.Grant({ accountId: session.accountId, clientId: client.clientId });
    grant.addOIDCScope("openid");
    await grant.save();
    return grant;
  },
  interactions: { url: (_ctx, interaction) => `/interaction/${interaction.uid}` },
  features: { devInteractions: { enabled: false } },
});
await registerExchange(provider, { policy, jwk, findAccount });
provider.use(interactions(provider, subjectOf));
const answer = provider.callback();
server.on("request", (req, res) => {
  const url = new URL(req.url, issuer);
  if (url.pathname.startsWith("/admin/")) return policy.admin(url, req, res);
  if (url.pathname === "/auth") policy.counts.authorize++;
  answer(req, res);
});
console.log(JSON.stringify({ issuer }));
