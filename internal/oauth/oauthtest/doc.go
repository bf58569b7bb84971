// Package oauthtest is an authorization server in the process of a test: correct by default, and as odd as the ones in
// the wild where a test asks for it.
//
//	as := oauthtest.Start(t, oauthtest.Behaviour{Rotate: true})
//	mcp := as.Protect(t, oauthtest.ResourceBehaviour{Next: mcpHandler})
//	as.Set(func(b *oauthtest.Behaviour) { b.Token = oauthtest.DropAfterEffect })
//	… as.Count(oauthtest.Refresh) == 1
//
// A person is not asked: /authorize answers at once. Every request is counted and kept, so that a test can say what was
// sent and what was not, and Issued lists every secret that was given out, so that a test can look for them where they
// must not be. It is for tests only.
package oauthtest
