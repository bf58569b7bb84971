// Package credentials answers which headers go to a connector's server, and whose they are.
//
//	credential mode     agent named    what goes out
//	shared              –              the shared credential; for a sync none, where none is stored
//	per_agent           yes            that agent's own; none stored: a Conflict, and never another's
//	per_agent           no             for a sync only: see package toolsync, which tries openly first
//
// It opens secrets and hands them on as headers; nothing else of the program sees them. It decides nothing
// about retries, and the one server that it talks to is the one that refreshes a grant:
//
//	due → one flight per grant in this process → a lease of this version in the database, or wait until the version moves
//	    → one request → written while lease and version stand → used
package credentials
