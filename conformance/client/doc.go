// Command client lets the official MCP conformance suite judge a running Patchbay as an MCP client.
//
// The suite starts an MCP server, often with an authorization server beside it, and runs this program with the server's
// URL. The program is a colleague who works with Patchbay: it knows the public JSON API and has a browser's habits, and
// imports nothing of ours.
//
//	main.go      what the suite and the operator say: environment, one argument
//	scenario.go  each scenario's authentication, and how it may end
//	colleague.go creates the connector, connects the account, syncs, follows what a refusal offers
//	patchbay.go  the JSON API
//	browser.go   opens a page, sends its form, follows redirects with cookies
//
// It exits with 0 where the flow ended as the scenario allows, else with 1 and a sentence on standard error. The judgment is the
// suite's: it looks at what its servers were asked. Use conformance/run, which starts everything.
package main
