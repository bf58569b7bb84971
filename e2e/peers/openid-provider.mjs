// An organisation's OpenID provider (oidc-provider) on a loopback port, http://localhost:PORT: its one client is Patchbay, and it tells of a
// person what PEOPLE says, in the id token: address, whether that is verified, groups.
//
// Environment: CLIENT_ID, CLIENT_SECRET, REDIRECT_URI; PEOPLE, as JSON: {"ada@acme.example": {"verified": true, "groups": ["engineers"]}}.
// When it is ready, it prints one line of JSON.
import { createHash, randomBytes } from "node:crypto";
import { createServer } from "node:http";
import Provider from "oidc-provider";
import { interactions } from "./interactions.mjs";

const server = createServer();
await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
const issuer = `http://localhost:${server.address().port}`;
const { CLIENT_ID, CLIENT_SECRET, REDIRECT_URI, PEOPLE } = process.env;
const people = JSON.parse(PEOPLE);

// A subject says nothing of the address.
const subjectOf = (email) => createHash("sha256").update(email).digest("hex").slice(0, 24);
const bySubject = new Map(Object.entries(people).map(([email, person]) => [subjectOf(email), { email, ...person }]));

const provider = new Provider(issuer, {
  cookies: { keys: [randomBytes(32).toString("hex")] },
  clients: [{ client_id: CLIENT_ID, client_secret: CLIENT_SECRET, redirect_uris: [REDIRECT_URI], grant_types: ["authorization_code"], response_types: ["code"] }],
  claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"], groups: ["groups"] },
  conformIdTokenClaims: false, // address and groups stand in the id token
  pkce: { required: () => true },
  ttl: { AccessToken: 3600, Session: 3600, Grant: 86400, Interaction: 600, IdToken: 600 },
  findAccount: (_ctx, id) => {
    const person = bySubject.get(id);
    return person && { accountId: id, claims: () => ({ sub: id, email: person.email, email_verified: person.verified, name: person.name, groups: person.groups }) };
  },
  interactions: { url: (_ctx, interaction) => `/interaction/${interaction.uid}` },
  features: { devInteractions: { enabled: false } },
});
provider.use(interactions(provider, subjectOf));
server.on("request", provider.callback());
console.log(JSON.stringify({ issuer }));
