// Command consent lets the official MCP conformance suite test a running Patchbay as an authorization server.
// It performs the steps of a person: it registers the suite's client, runs the suite's command, opens the
// address that the suite prints, signs in and allows access.
//
//	main.go      environment, the command
//	register.go  client registration (RFC 7591)
//	account.go   sign-in by password, and consent
//
// Its exit code is the suite's. conformance/run starts everything.
package main
