// Package connect connects an account: it redirects a person to an authorization server, and stores the grant of the callback.
//
//	Start, or Link and AcceptLink ─── 1. permission and target: a connector, per agent one of its agents
//	      │                       2. the MCP server is probed without a credential, for its challenge (probe.go)
//	      │                       3. discovery of authorization server, resource and scopes (survey.go)
//	      │                       4. a client: configured, our metadata document, stored or new registration (client.go)
//	      │                       5. the flow is stored: hashes of state and browser binding, sealed verifier (start.go)
//	      ▼
//	   (a person agrees; any replica may take the callback)
//	      │
//	   Finish ─────────────────── 1. the flow is deleted, so it works once; browser and member are compared (finish.go)
//	                              2. iss is checked before other parameters
//	                              3. the connector must be unchanged since the start
//	                              4. the code is exchanged, outside of a transaction
//	                              5. one transaction stores grant, audit event and a sync if tools are unknown (store_grant.go)
//
// Before step 4 of Finish nothing is sent, and every failure is Malformed. explain.go turns failures at the authorization server into
// sentences. State, code, verifier and token leave this package only sealed; remote text does not leave it at all.
//
// Package credentials uses and refreshes grants. Package oauth has the steps of the protocol.
package connect
