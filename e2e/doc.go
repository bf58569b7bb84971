// Package e2e tests the real program from the outside: the built binary, killed processes, a real PostgreSQL,
// and MCP servers that the program does not know.
//
//	program_test.go    builds the binary once; an installation, its server, commands beside it
//	process_test.go    starts, stops and kills processes, and reads their output
//	person_test.go     a person with a browser's cookie jar
//	client_test.go     a program with an API key
//	peer_test.go       third-party programs of npm: peers/
//	app_host_test.go   a browser that is a host of MCP Apps, and example servers of npm: apps/
//	interop_*_test.go  published servers and clients of npm and Go: interop/
//	account_soak_*     calls with many accounts while replicas are killed; many more of them in make soak
//	connecting_test.go an installation with a real authorization server; visitor_test.go, a browser between the two
//
// E2E_HTTP=standard runs all of it with PATCHBAY_HTTP=standard; inEachHTTPMode runs a test in both modes.
//
// Nothing here uses the product's packages: the tests see what an operator, a browser or a program can see.
// Each test has its own data directory, and all run in parallel.
package e2e
