// Command client lets the official MCP conformance suite judge a running Patchbay as an MCP client, through its gateway.
//
// The suite starts an MCP server, often with an authorization server beside it, and runs this program with the server's
// URL. The program is a colleague who works with Patchbay: it knows the public JSON API and has a browser's habits; and it is the
// agent, with the Go SDK's client, that the colleague lets in at the gateway. It imports nothing of ours but the API's client beside it.
//
//	main.go      what the suite and the operator say: environment, one argument
//	scenario.go  each scenario's authentication, and how it may end
//	colleague.go creates the connector, connects the account, syncs, sends the agent, follows what a refusal offers
//	agent.go     a session at the gateway, and what a refused call offers
//	plays.go     what the agent does there, by scenario
//	agree.go     answers what servers ask during a call, as a friendly person would
//	browser.go   opens a page, sends its form, follows redirects with cookies
//
// It exits with 0 where the flow ended as the scenario allows, else with 1 and a sentence on standard error. The judgment is the
// suite's: it looks at what its servers were asked. Use conformance/run, which starts everything.
package main
