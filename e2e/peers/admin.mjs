// The test's window on the authorization server, and its levers.
//
//   GET  /admin/counts            requests by grant type or route, and what is alive
//   GET  /admin/issued            every secret that was ever given out, by kind
//   POST /admin/life?seconds=N    how long access tokens live from now on
//   POST /admin/hold, /admin/release   token and revocation requests wait, as behind a slow proxy; one whose client hangs up is never served
//   POST /admin/lose              the next token request is served, and its answer lost on the way
//   POST /admin/end-grants        every grant ends, as when a person takes the permission back
//   POST /admin/forget-clients    every registered client is unknown
export class Window {
  #provider;
  #counts = {};
  #issued = {}; // kind → Set of values
  #grants = new Set();
  #clients = new Set();
  #waiting = new Set();
  #held = false;
  #lose = false;

  constructor(seconds) {
    this.seconds = seconds;
  }

  // watch is a middleware that notes what each request was and what its answer gave out.
  watch(provider) {
    this.#provider = provider;
    for (const kind of ["access_token", "refresh_token"]) {
      provider.on(`${kind}.saved`, (token) => this.#grants.add(token.grantId));
    }
    return async (ctx, next) => {
      await next();
      const route = ctx.oidc?.route;
      if (route === "token") this.#count(ctx.oidc.params?.grant_type);
      if (route === "token" || route === "registration") {
        this.#note(ctx.body);
        if (ctx.status >= 400) this.#count(`${route}_refused`);
      }
      if (route === "registration" && ctx.status === 201) this.#clients.add(ctx.body.client_id);
      if (route === "registration" || route === "revocation") this.#count(route);
      const code = URL.canParse(ctx.response.get("Location")) && new URL(ctx.response.get("Location")).searchParams.get("code");
      if (code) this.#note({ code });
    };
  }

  #count(name) {
    this.#counts[name] = (this.#counts[name] ?? 0) + 1;
  }

  #note(body) {
    for (const kind of ["code", "access_token", "refresh_token", "id_token", "client_secret", "registration_access_token"]) {
      if (body?.[kind]) (this.#issued[kind] ??= new Set()).add(body[kind]);
    }
  }

  // pass is where a token or revocation request waits while they are held. False: it was hung up on, and must not be served.
  async pass(res) {
    if (this.#held) {
      const closed = new Promise((resolve) => res.once("close", resolve));
      let release;
      const released = new Promise((resolve) => (release = resolve));
      this.#waiting.add(release);
      await Promise.race([closed, released]);
      this.#waiting.delete(release);
    }
    if (this.#lose) {
      this.#lose = false;
      res.write = res.end = () => res.destroy();
    }
    return !res.destroyed;
  }

  async admin(url, req, res) {
    const levers = {
      "GET counts": async () => ({ ...this.#counts, held: this.#waiting.size, live_refresh_tokens: await this.#live() }),
      "GET issued": () => Object.fromEntries(Object.entries(this.#issued).map(([kind, all]) => [kind, [...all]])),
      "POST life": () => void (this.seconds = Number(url.searchParams.get("seconds"))),
      "POST hold": () => void (this.#held = true),
      "POST release": () => this.#release(),
      "POST lose": () => void (this.#lose = true),
      "POST end-grants": () => this.#endGrants(),
      "POST forget-clients": async () => void (await Promise.all([...this.#clients].map((id) => this.#provider.Client.adapter.destroy(id)))),
    };
    const lever = levers[`${req.method} ${url.pathname.slice("/admin/".length)}`];
    res.writeHead(lever ? 200 : 404, { "content-type": "application/json" });
    res.end(JSON.stringify((await lever?.()) ?? {}));
  }

  #release() {
    this.#held = false;
    for (const release of this.#waiting) release();
  }

  async #live() {
    const all = await Promise.all([...(this.#issued.refresh_token ?? [])].map((value) => this.#provider.RefreshToken.find(value)));
    return all.filter((token) => token && !token.consumed).length;
  }

  async #endGrants() {
    const { AccessToken, RefreshToken, Grant } = this.#provider;
    for (const id of this.#grants) {
      await AccessToken.revokeByGrantId(id);
      await RefreshToken.revokeByGrantId(id);
      await (await Grant.find(id))?.destroy();
    }
  }
}
