// Package oauth speaks OAuth 2.1 to an authorization server on behalf of an MCP client, each step apart.
//
//	Client.Discover ────────── the MCP server's URL → protected-resource metadata (RFC 9728) → authorization-server
//	      │                    metadata (RFC 8414, OpenID Connect) ─► Discovery{Server, Resource, Trace}
//	Client.Register ────────── configured id, else our metadata document's URL, else RFC 7591 ─► Registration
//	      │                    (Client.Recognises: one that was made before may be forgotten there)
//	Client.AuthorizationURL ── NewState, NewPKCE, Discovery.Scopes ─► the URL that a browser opens
//	      ┊                    (a person agrees, minutes pass; the caller stores what it needs to go on)
//	ReadCallback ───────────── iss is compared before anything else of the answer is used ─► code
//	      │
//	Client.Exchange ────────── code + verifier ─► Token
//	Client.Refresh ─────────── refresh token ─► Token; one request, never repeated here
//	Client.Revoke ──────────── RFC 7009
//
//	Client.ClientCredentials ─ no person: secret or private key ─► Token
//
// Every document is written by somebody else, and any of its URLs may point at a machine that we must not touch. So each
// URL is checked before it is stored or opened, an answer is 1 MiB and 15 seconds at most, redirects are not followed,
// and every failure is an [*Error] in our words: nothing that a remote server wrote gets into it but codes that RFCs
// define.
//
// The package stores nothing, retries nothing that may have had an effect, and makes no HTTP client: it is handed one.
// Tests use oauthtest, an authorization server with a switch for every oddity.
package oauth
