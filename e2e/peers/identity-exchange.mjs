// The identity provider's side of enterprise-managed authorization: an ID token or a refresh token for an identity assertion (ID-JAG), by
// token exchange (RFC 8693). oidc-provider has no such grant, but verifies the client and the token.
import { randomUUID } from "node:crypto";
import { json } from "node:stream/consumers";
import { errors } from "oidc-provider";
import { importJWK, SignJWT } from "jose";

export const exchangeGrant = "urn:ietf:params:oauth:grant-type:token-exchange";
const idJAG = "urn:ietf:params:oauth:token-type:id-jag";

// Policy is what an administrator of the provider decides: the servers that a client may ask for, with its client id there, and the
// people that are suspended.
export class Policy {
  audiences = {}; // client → issuer of a server → client id there
  suspended = [];
  counts = { authorize: 0, exchanges: 0, refreshes: 0, refused: 0 };

  //   GET  /admin/counts   requests for the sign-in page, exchanges, those of refresh tokens, and refused ones
  //   POST /admin/policy   {"audiences": {"patchbay": {"https://as.example": "id there"}}, "suspended": ["ada@acme.example"]}
  async admin(url, req, res) {
    if (req.method === "POST") Object.assign(this, await json(req));
    res.writeHead(200, { "content-type": "application/json" });
    res.end(JSON.stringify(url.pathname === "/admin/counts" ? this.counts : {}));
  }
}

// registerExchange adds the grant to a provider; jwk is its signing key, and findAccount finds people that are not suspended.
export async function registerExchange(provider, { policy, jwk, findAccount }) {
  const key = await importJWK(jwk);

  const subjectOf = async (client, type, token) => {
    if (type === "urn:ietf:params:oauth:token-type:id_token") {
      const { payload } = await provider.IdToken.validate(token, client).catch(() => ({}));
      return payload?.exp * 1000 > Date.now() ? payload.sub : undefined;
    }
    policy.counts.refreshes++;
    const found = await provider.RefreshToken.find(token);
    return found?.clientId === client.clientId && found.isValid ? found.accountId : undefined;
  };

  const exchange = async (ctx) => {
    const { client, params } = ctx.oidc;
    if (params.requested_token_type !== idJAG) throw new errors.InvalidRequest("requested_token_type");
    const there = policy.audiences[client.clientId]?.[params.audience];
    if (!there) throw new errors.InvalidTarget("this client may not ask for that server");
    const subject = await subjectOf(client, params.subject_token_type, params.subject_token);
    if (!subject || !findAccount(ctx, subject)) throw new errors.InvalidGrant("the person's sign-in has ended");
    const claims = { client_id: there, jti: randomUUID(), resource: params.resource, scope: params.scope };
    const assertion = await new SignJWT(claims)
      .setProtectedHeader({ alg: jwk.alg, kid: jwk.kid, typ: "oauth-id-jag+jwt" })
      .setIssuer(provider.issuer)
      .setSubject(subject)
      .setAudience(params.audience)
      .setIssuedAt()
      .setExpirationTime("60s")
      .sign(key);
    ctx.body = { access_token: assertion, issued_token_type: idJAG, token_type: "N_A", expires_in: 60, scope: params.scope };
  };

  const asked = ["requested_token_type", "subject_token", "subject_token_type", "audience", "resource", "scope"];
  provider.registerGrantType(exchangeGrant, async (ctx) => {
    policy.counts.exchanges++;
    try {
      await exchange(ctx);
    } catch (err) {
      policy.counts.refused++;
      throw err;
    }
  }, asked);
}
