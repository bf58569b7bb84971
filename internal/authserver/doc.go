// Package authserver is the gateway's authorization server: OAuth 2.1 for programs that speak MCP and know nothing but the gateway's address.
//
// A sign-in goes so:
//
//  1. The gateway answers 401 and names the address's metadata (RFC 9728), which names this server; its own metadata (RFC 8414) says the rest.
//  2. The program is one of two kinds. Its client id is the URL of its document (Client ID Metadata Documents), whose host is then known; or
//     it registered itself (RFC 7591), and nobody knows who it is. No program has a secret: what counts is where the answer goes, and PKCE.
//  3. It sends a browser to /oauth/authorize. Whoever is there signs in first: for strangers nothing is fetched and nothing redirected.
//  4. The request is held against what the program said of itself (redirect.go). What is wrong with it is told on a page of ours, and not at
//     an address that whoever made the request may have chosen.
//  5. The person reads who asks and where the answer goes, and says which agent of which tenant the program will be. Each time: that somebody
//     has allowed a program is no answer to the next request.
//  6. The code goes back with `iss` (RFC 9207). It is good for a minute and once, for this program, redirect URI, verifier and resource; used
//     again, it ends what came of it.
//  7. The access token is an agent's token with an end and one address (RFC 8707), and so known to the gateway like any other. The refresh
//     token is another one after each use; one that was used before ends the program's access, but for some seconds, in which the same
//     request has the same answer: an answer may be lost.
//
// All that a program has stands in one row (agent_clients) and ends with it, with its agent, and with the person's membership.
//
// The pages are the dashboard's (package admin). What it is not for: Patchbay's own sign-ins at others (packages oauth, connect and sso).
package authserver
