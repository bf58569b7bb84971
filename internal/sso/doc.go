// Package sso signs people in at their organisation's OpenID provider.
//
// An owner enters the provider, verifies e-mail domains (domains.go), tests a sign-in and turns it on (settings.go). A sign-in:
//
//  1. A person enters an e-mail address. A tenant must have verified its domain (start.go).
//  2. A flow is stored and the browser gets a cookie. State, nonce and PKCE verifier are derived from the cookie and the flow's id
//     (flow.go): another browser cannot finish the flow, nor can a reader of the database.
//  3. The provider redirects back with a code. The flow is deleted before anything else is read (finish.go).
//  4. The code is exchanged, and the id token validated (token.go; OpenID Connect Core section 3.1.3.7, RFC 9207). Its address must be
//     verified and in a verified domain.
//  5. The member is that of the subject, else of the address, else a new one if allowed. Groups give the role (admit.go). One
//     transaction stores all of it with its audit events.
//  6. The session opens this tenant alone (auth.StartSessionBySSO).
//
// A failed step becomes one sentence (explain.go). Accounts at MCP servers are in packages oauth and connect.
package sso
