// Package redact removes secrets from texts of others.
//
//	JSON, Text     remove what looks like a secret: named values, bearer tokens, JWTs, private keys, random words
//	Secrets        a set of known secrets, found in every usual encoding
//	Excerpt        what a remote server said, for an admin: known and likely secrets removed, made printable, bounded
//
// The package is pure. Its callers read the known secrets.
package redact
