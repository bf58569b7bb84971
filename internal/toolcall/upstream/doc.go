// Package upstream keeps MCP sessions open, so that a call needs one request and no handshake.
//
//	Pool.Use ── resolve the credential ── the place's session, or a new one ──► do(session)
//
// A place is a tenant's connector with the owner of the credential (an agent, or all of them where it is shared) and what the server may
// ask of whoever calls. It has one session, which was opened with one edition: the connector's settings, the credential and its
// revision, and the remembered era. Nothing else gets that session, and no two openings of it go on at once.
//
//	another edition            the old session ends at once; where only the token was renewed, when what is under way in it ends
//	no usable credential       it ends at once
//	Review, EndCredential …    it ends at once
//	unused for ten minutes     it ends
//	no room                    the one that is unused for longest ends; all are in use: Unavailable
//
// Every Use resolves the credential first: from memory (purse.go), as long as somebody tells what the database says of credentials,
// else at the cost of one statement each second. So what was revoked or rotated anywhere is used nowhere any more. The calls that other
// processes have under way, and the sessions that lie unused there, they end when they hear of it (Review), at their next use, or after
// the ten minutes.
//
// What a key is made of is no secret, and what is one (the ids of sessions, the tokens) is never printed, here or by mcp.Session.
//
// It is for calls that go through Patchbay, and not for syncs: a list wants a session of its own and ends it. It explains no failure of
// a server and marks no credential as refused: package toolcall does.
package upstream
