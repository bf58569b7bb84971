// Package sso signs people in at their organisation's own OpenID provider.
//
// A tenant's owner says where the provider is and proves which e-mail domains are the tenant's; an owner signs in there once to try it,
// and then it is turned on. A sign-in goes so:
//
//  1. A person writes an e-mail address. Its domain is a tenant's that has proven it, or there is no single sign-on for it.
//  2. A flow is stored, and the browser gets a cookie. State, nonce and PKCE verifier are made from the cookie's value and the flow's
//     id: another browser cannot finish it, and what is stored finishes nothing.
//  3. The provider sends the browser back with a code. The flow is used up before anything else is looked at.
//  4. The code is exchanged, and the id token held against everything it must say: who signed it, for whom, when, in answer to what
//     (OpenID Connect Core §3.1.3.7, RFC 9207), and a verified address in a domain that the tenant has proven.
//  5. The person is who the provider's subject was before; else who has the address in this tenant; else a new member where these are
//     made. The groups give the role. All of it is one transaction, with its audit events.
//  6. The session opens this tenant alone (auth.StartSessionBySSO).
//
// Where a step fails, the person reads one sentence (explain.go). What it is not for: accounts at MCP servers (packages oauth and connect).
package sso
