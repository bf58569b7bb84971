// The pages of a provider: plain forms that sign in whoever writes a name, and ask for consent.
import { text } from "node:stream/consumers";

// interactions is a middleware for /interaction/UID; accountOf is the id of whoever writes a name.
export function interactions(provider, accountOf = (name) => name) {
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
      login: async () => ({ login: { accountId: accountOf(form.get("login")) } }),
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
