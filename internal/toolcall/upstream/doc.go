// Package upstream keeps MCP sessions open, so that a call needs one request and no handshake.
//
//	Pool.Use ── resolve the credential ── find or open the session ──► do(session)
//
// A session belongs to a key (session_key.go): the tenant's connector, the owner of the credential (an agent, or all), and the
// client's capabilities. It was opened with one version: the connector's settings, the credential's revision, and the remembered
// era; an era that is learnt later and is the session's own makes no other version. A key has one session, and one opening at a
// time. A session ends (retire.go)
//
//	with another version       at once; after its requests, if only the token was refreshed
//	without a credential       at once
//	by RecheckCredentials, EndCredential…  at once
//	by RecheckConnector        after its requests, if the connector was changed, disabled or deleted
//	after ten idle minutes     by the sweep
//	at the limit               the longest idle one; if none is idle, the use is refused as Unavailable
//
// Each Use resolves the credential: from memory (credential_cache.go) while notifications arrive, else with one statement a second.
// So a revoked or rotated credential is not used again. Other processes end their sessions with it on the notification (RecheckCredentials), at
// the next use, or after ten idle minutes.
//
// Keys hold no secrets. Session ids and tokens are secret and never printed, here or by mcp.Session.
//
// Syncs do not use the pool: a listing opens a session of its own. Package toolcall explains failures and marks refused credentials.
package upstream
