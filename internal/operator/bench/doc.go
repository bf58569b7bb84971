// Package bench measures scheduled syncs on this machine, against MCP servers of its own.
//
//	bench.go      prepares the database and runs the benchmark
//	run.go        a server's services for syncs, tenants and connectors
//	report.go     rounds, their cost, and what is printed
//	upstream.go   the MCP servers
//	process.go    the same servers in a process of their own
package bench
