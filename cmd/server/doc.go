// Command patchbay is the whole product in one program: the server, and the commands of its operator.
//
//	main.go run.go    the command line: parse, run one command, print its failure as a sentence
//	serve.go          the server's life: start in order, serve, stop in the opposite order
//	wire.go           builds every service once and hands out what each may see
//	routes.go         which path goes to which door
//	database.go       opens the database, embedded or not, for any command
//	keyset.go         finds or makes the key that wraps all other keys
//	migrate.go tenant.go user.go apikey.go keys.go keys_rotate.go doctor.go import.go devmcp.go seed.go   one command each
//	bench*.go         measures scheduled syncs, with servers of its own
//
// There is wiring here and nothing else: a rule that a second program would need belongs to a room below.
package main
