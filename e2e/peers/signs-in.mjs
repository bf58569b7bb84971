// A program with a TypeScript SDK's client that knows the gateway's address alone, for the end-to-end tests: it signs in by the SDK's own
// OAuthClientProvider, lists the tools, calls one, and calls it again when its access token is past its end.
//
//   node signs-in.mjs REVISION URL TOOL ARGUMENTS [DOCUMENT]
//
// DOCUMENT is the URL of what the program says of itself, which is its client id; without one it registers itself.
// REVISION 2025-11-25 is the first SDK, which speaks no later one; 2026-07-28 the second, told to speak that. It prints a JSON object a line:
// {"open"}, the address that a browser is to open, and {"revision", "tools", "called", "again", "renewed"}.
import { once } from "node:events";
import { createServer } from "node:http";

const [revision, url, tool, args, document] = process.argv.slice(2);
const newest = revision === "2026-07-28";
const { Client, StreamableHTTPClientTransport, UnauthorizedError } = newest
  ? await import("@modelcontextprotocol/client")
  : {
      ...(await import("@modelcontextprotocol/sdk/client/auth.js")),
      ...(await import("@modelcontextprotocol/sdk/client/index.js")),
      ...(await import("@modelcontextprotocol/sdk/client/streamableHttp.js")),
    };
const say = (what) => console.log(JSON.stringify(what));
const program = () => new Client({ name: "program", version: "1" }, newest ? { versionNegotiation: { mode: { pin: revision } } } : {});

const server = createServer().listen(0, "127.0.0.1");
await once(server, "listening");
const redirect = `http://127.0.0.1:${server.address().port}/callback`;
const answer = new Promise((came) =>
  server.on("request", (req, res) => {
    const to = new URL(req.url, redirect);
    if (to.pathname === "/callback") came(to.searchParams);
    res.end("You can close this window.");
  }),
);

// An access token that is past its end is answered like any that is not known: the SDKs look at no clock, and renew what is refused.
const kept = { past: false };
const provider = {
  redirectUrl: redirect,
  clientMetadata: {
    client_name: "TypeScript", redirect_uris: [redirect], grant_types: ["authorization_code", "refresh_token"], response_types: ["code"], token_endpoint_auth_method: "none",
  },
  ...(document && { clientMetadataUrl: document }),
  state: () => "their-state",
  clientInformation: () => kept.client,
  saveClientInformation: (client) => void (kept.client = client),
  tokens: () => (kept.past ? { ...kept.tokens, access_token: "past-its-end" } : kept.tokens),
  saveTokens: (tokens) => void Object.assign(kept, { tokens, past: false }),
  discoveryState: () => kept.discovery,
  saveDiscoveryState: (discovery) => void (kept.discovery = discovery),
  saveCodeVerifier: (verifier) => void (kept.verifier = verifier),
  codeVerifier: () => kept.verifier,
  redirectToAuthorization: (to) => say({ open: to.href }),
};

const first = new StreamableHTTPClientTransport(new URL(url), { authProvider: provider });
await program().connect(first).then(
  () => Promise.reject(new Error("nobody asked for a token")),
  (error) => error instanceof UnauthorizedError || Promise.reject(error),
);
const params = await answer;
if (params.get("state") !== "their-state" || params.get("iss") !== new URL(url).origin) throw new Error(`answered with ${params}`);
await first.finishAuth(params.get("code"), params.get("iss"));

const transport = new StreamableHTTPClientTransport(new URL(url), { authProvider: provider });
const client = program();
await client.connect(transport);
const call = () => client.callTool({ name: tool, arguments: JSON.parse(args) });
const tools = (await client.listTools()).tools.map((t) => t.name);
const called = await call();
const before = kept.tokens;
kept.past = true;
const again = await call();
const renewed = kept.tokens.access_token !== before.access_token && kept.tokens.refresh_token !== before.refresh_token;
say({ revision: client.getNegotiatedProtocolVersion?.() ?? transport.protocolVersion, tools, called, again, renewed });
await client.close();
process.exit(0);
