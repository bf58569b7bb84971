// Package oauth is an OAuth 2.1 client for MCP, one function per step.
//
//	Client.Discover ────────── the MCP server's URL → protected-resource metadata (RFC 9728) → authorization-server
//	      │                    metadata (RFC 8414, OpenID Connect) ─► Discovery{Server, Resource, Trace}
//	Client.Register ────────── configured id, else our metadata document's URL, else RFC 7591 ─► Registration
//	      │                    (Client.Recognises: the server may have forgotten an earlier one)
//	Client.AuthorizationURL ── NewState, NewPKCE, Discovery.Scopes ─► the URL that a browser opens
//	      ┊                    (a person agrees; the caller stores what it needs to continue)
//	ReadCallback ───────────── iss is checked before other parameters ─► code
//	      │
//	Client.Exchange ────────── code + verifier ─► Token
//	Client.ReadIdentity ────── the account, by id_token or userinfo (OpenID Connect Core section 5.3)
//	Client.Refresh ─────────── refresh token ─► Token; one request, never retried
//	Client.Revoke ──────────── RFC 7009
//
//	Client.ClientCredentials ─ no person: secret or private key ─► Token
//	Client.ExchangeToken ───── a subject's assertion, which a SigningKey signs, and its actor's (RFC 8693) ─► Token
//	ProofKey ───────────────── binds tokens where the server offers it (RFC 9449); its Client proves each request
//
// Every document is untrusted, and its URLs may name hosts that must not be contacted. So each URL is checked before it is
// stored or opened, responses are bounded to 1 MiB and 15 seconds, and redirects are not followed. Every failure is an
// [*Error] without remote text, except codes that RFCs define.
//
// The package stores nothing, retries nothing that may have had an effect, and uses the caller's HTTP client. Its tests use
// oauthtest, an authorization server with a switch for every oddity.
package oauth
