// Package authserver is the gateway's authorization server: OAuth 2.1 for MCP clients that know only the gateway's URL.
//
//  1. The gateway answers 401 with the resource's metadata (RFC 9728), which names this server and its metadata (metadata.go, RFC 8414).
//  2. A client has a metadata document's URL as its client id (document.go), or registers dynamically (register.go, RFC 7591). All clients
//     are public: redirect URI and PKCE identify them.
//  3. The client opens /oauth/authorize. The person signs in first: before that nothing is fetched or redirected.
//  4. The request is checked against the client's metadata (request.go, redirect.go). Errors are shown on our page, not redirected.
//  5. The person reads the client and the receiver, and chooses an agent or a scope (consent.go). Consent is not remembered.
//  6. The code is returned with iss (RFC 9207). It works once within a minute, for its client, redirect URI, verifier and resource. Reuse
//     ends the client's access.
//  7. The access token is an agent token with an expiry and one resource (token.go, RFC 8707). Refresh tokens rotate. Reuse of an old one
//     ends the access, except for some seconds, in which a repeated request gets the same response: a response may be lost.
//
// A workload has no person, browser or stored secret. It sends a JWT of its issuer (workload.go, RFC 7523), which is verified (assertion.go)
// with the issuer's keys (keyset.go), counts once, and stands for one access token. There is no refresh token.
//
// A client may also sign a member in without a screen, with an identity assertion of the tenant's provider (identity.go, ID-JAG). It then
// acts as the member's own agent for this client, by the rules of the consent screen, for the life of one access token.
//
// A DPoP proof (proof.go, RFC 9449) binds what is issued for it to the client's key: access tokens, refresh tokens and, by dpop_jkt, the code.
// The MAC of each covers the thumbprint, so a release without proofs knows none of them.
//
// A client's state is one row (agent_clients), deleted with its agent and with the person's membership (access_end.go).
//
// The pages are in package admin. Patchbay's own sign-ins at other servers are in packages oauth, connect and sso.
package authserver
