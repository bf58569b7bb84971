// Package credentials answers which headers go to a connector's server, and whose they are.
//
//	credential mode     agent named    what goes out
//	shared              –              the shared credential; for a sync none, where none is stored
//	per_agent           yes            that agent's own; none stored: a Conflict, and never another's
//	per_agent           no             for a sync only: see package toolsync, which tries openly first
//
// It opens secrets and hands them on as headers; nothing else of the program sees them. It decides nothing about retries of what
// the headers are for. The one server that it talks to is the authorization server, for the next token of
//
//	oauth2                                 an account that a person connected: by its refresh token (client.go)
//	client_credentials, private_key_jwt    a machine: by the secret or the key that is stored (machine.go)
//
// both in one way (refresh.go):
//
//	due → one flight for each version of a grant in this process → a lease of that version in the database, or wait until the
//	    version moves → one request → written while lease and version stand → used
//
// An account that nobody uses is renewed once a day by the clock, in the same way (idle.go).
//
// What a failure means is decided in one place (outcome.go): the authorization server ends a grant by saying so, and nothing else
// does. A token that could not be had just now is an Unavailable, and one that lives is used meanwhile. What the resource says of a
// token comes in by Forced (401, once for each version), Refused (401 again) and NeedsScopes (403).
package credentials
