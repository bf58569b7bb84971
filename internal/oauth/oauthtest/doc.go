// Package oauthtest is an authorization server in the process of a test: correct by default, and as odd as the ones in
// the wild where a test asks for it.
//
//	as := oauthtest.Start(t, oauthtest.Behaviour{Rotate: true})
//	mcp := oauthtest.Protect(t, as, oauthtest.Resource{Challenge: oauthtest.WithMetadata})
//	as.Set(func(b *oauthtest.Behaviour) { b.Token = oauthtest.DropAfterEffect })
//	… as.Count("refresh_token") == 1
//
// It counts and keeps every request, so that a test can say what was sent and what was not. It is for tests only.
package oauthtest
