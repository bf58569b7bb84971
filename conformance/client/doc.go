// Command client connects the official MCP conformance suite, as its MCP client, with a running Patchbay.
//
// The suite starts an MCP server, often with an authorization server, and runs this program with the server's
// URL. The program uses the public JSON API and a browser as an admin would. Then it calls the tools through
// the gateway as an agent, with the Go SDK's client.
//
//	main.go         environment and argument
//	scenario.go     each scenario's authentication and expected end
//	runner.go       creates the connector, connects the account, syncs, runs the agent, follows links of refusals
//	agent.go        a session at the gateway
//	agent_steps.go  the agent's actions by scenario
//	elicitation.go  answers to the server's requests during a call
//	browser.go      pages, forms, redirects and cookies
//
// It exits with 0 if the flow ended as the scenario expects, otherwise with 1 and a sentence on standard error.
// The suite judges by the requests that its servers received. conformance/run starts everything.
package main
