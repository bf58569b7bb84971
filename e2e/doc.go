// Package e2e tests the real program from the outside: the binary as it is built, processes that are killed, a real
// PostgreSQL, and MCP servers that the program knows nothing of.
//
//	program_test.go    builds the binary once; an installation, its server, commands beside it
//	process_test.go    starts, stops and kills processes, and reads what they print
//	person_test.go     somebody with a browser's cookie jar
//	client_test.go     a program with an API key
//	peer_test.go       programs of npm that we did not write: peers/
//	connecting_test.go an installation beside a real authorization server; visitor_test.go, who goes from one to the other
//
// E2E_HTTP=standard runs all of it with PATCHBAY_HTTP=standard; inEachHTTPMode runs a test in both modes.
//
// Nothing here reaches into the product: what is asserted is what an operator, a browser or a program can see. Each test
// has a data directory of its own, and all of them run at once.
package e2e
