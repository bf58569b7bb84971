// Package credentials resolves the headers that authenticate at a connector's server.
//
//	credential mode     agent given    credential
//	shared              –              the shared one; a sync without one sends none
//	per_agent           yes            the agent's own only; none: a Conflict
//	per_agent           no             syncs only: package toolsync tries without one first
//
// Only this package opens secrets, and it passes them on as headers. It does not retry the requests that use them. It sends requests
// only to authorization servers, for the next token of
//
//	oauth2                                 an account that a person connected: refresh token (refresh_client.go)
//	client_credentials, private_key_jwt    a machine: stored secret or key (machine.go), or the JWT of the workload that Patchbay
//	                                       runs as (workload.go)
//	oauth2, managed                        a member's sign-in at the organisation's provider (managed.go)
//	oauth2, token exchange                 Patchbay's own assertion of the member and the agent (exchange.go)
//
// All refresh in the same way (refresh.go):
//
//	due ──► one refresh for each version of a grant in a process ──► a lease of that version in the database, or a wait until the
//	    version changes ──► one request ──► stored if lease and version still hold ──► used
//
// Accounts that are not used are refreshed once a day (idle.go).
//
// refresh_failure.go classifies failures: only the authorization server's response about grant or client ends a grant. A failed
// refresh is an Unavailable fault, and a valid token is used meanwhile. The resource's refusals come in by ForceRefresh (401, once
// for each version), MarkRefused (401 again) and RequestScopes (403).
package credentials
