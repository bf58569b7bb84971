// Package connect connects an account: it sends a person to an authorization server, and stores what the server grants when the
// person comes back.
//
//	Start, or Link and Accept ─── 1. who may, and what for: a connector, per agent one of its agents
//	      │                       2. the MCP server is asked without a credential: its challenge, and what it asks for
//	      │                       3. discovery: which authorization server, which resource, which scopes
//	      │                       4. a client there: configured, our metadata document, registered before, registered now
//	      │                       5. the flow is stored: hash of the state, hash of what binds the browser, sealed verifier
//	      ▼
//	   (a person agrees; any replica may take the callback)
//	      │
//	   Finish ─────────────────── 1. the flow is taken, which works once; the browser and the member are compared
//	                              2. iss, before anything else of the answer
//	                              3. the connector is still what the flow was started for
//	                              4. the code is exchanged, with no transaction open
//	                              5. one transaction: the grant, the audit event, a sync run where the tools are not known
//
// Until step 4 of Finish nothing is sent anywhere, and whatever is wrong before it is a Malformed fault. What goes wrong at the
// authorization server becomes a sentence in explain.go. No state, code, verifier or token leaves this package but into the
// store's seal; no text of the remote side leaves it at all.
//
// It is not for using or refreshing what was granted: that is package credentials. The steps of the protocol are package oauth's.
package connect
