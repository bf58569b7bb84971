// Package mailtest has an SMTP server for tests: github.com/emersion/go-smtp, with TLS and a password.
package mailtest
