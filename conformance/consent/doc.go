// Command consent lets the official MCP conformance suite judge a running Patchbay as an authorization server. It is what the suite leaves to people:
// it registers the client under which the suite comes, runs the suite's command, opens the address that the suite asks for, signs in there and
// says yes.
//
//	main.go    what the operator says: environment, the command
//	program.go registers a client, as any program may
//	person.go  signs in by password, and allows what is asked
//
// It ends as the suite's command does. It imports nothing of ours. Use conformance/run, which starts everything.
package main
