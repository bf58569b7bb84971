// Command patchbay is the whole product in one program: the server, and the commands of its operator.
//
//	main.go run.go    the command line: parse, run one command, print its error as a sentence
//	serve.go          start in order, serve, stop in reverse order
//	wire.go           builds every service once and passes each its dependencies
//	routes.go         maps paths to handlers
//	database.go       opens the database for a command
//	migrate.go tenant.go user.go apikey.go keys.go keys_rotate.go doctor.go import.go devmcp.go seed.go   one command each
//	bench*.go         measures scheduled syncs, with its own servers
//
// The package has wiring only: a rule that a second program would need belongs in an internal package.
package main
