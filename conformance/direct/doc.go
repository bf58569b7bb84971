// Command direct lets the official MCP conformance suite judge package mcp by itself, without a Patchbay around it: what the gateway
// will do with it, calls above all, is judged here already.
//
//	main.go      what the suite says: environment, one argument
//	scenario.go  what each scenario wants done with a session
//	answer.go    answers what servers ask during a call, as a friendly person would
//	account.go   connects an account, for the one scenario whose calls need one
//
// The other scenarios of signing in belong to the program client, which is run for them: package mcp signs nobody in. Use conformance/run,
// which starts everything.
package main
