// Command patchbay is the whole product in one program: the server, and the commands of its operator.
//
//	main.go run.go    the command line: parse, run one command, print its error as a sentence
//	serve.go          start in order, serve, stop in reverse order
//	wire.go           builds every service once and passes each its dependencies
//	routes.go         maps paths to handlers
//	devmcp.go         a small MCP server, to try things with
//	bench.go          starts the jobs that a benchmark measures
//
// The package has wiring only: a rule that a second program would need belongs in an internal package. Package
// operator has the other commands of this machine, package ctl those for remote use.
package main
