// Command gateway measures Patchbay's gateway against a bare reverse proxy, in one run and by turns, and puts it under a load that goes wrong.
//
//	make bench-gateway                     the table of docs/performance.md
//	gateway run [-rounds 7] [-calls 10000]  the same, with other numbers
//	make soak                              a million calls (soak.go): every reply is checked, and what is left behind is counted
//	gateway soak [-calls 1000000]          the same, with another number
//	gateway profile -profile FOLDER        CPU profiles of Patchbay, one for each kind of call
//	gateway upstream, proxy, mock          the servers that run and soak start, by themselves
//
// The MCP server behind both, the proxy and Patchbay are processes of their own, and so is what makes the load: the CPU of one is
// read from /proc and holds nothing of the others. Patchbay is the ordinary program with a PostgreSQL of its own; its CPU is told
// with and without that of PostgreSQL. The proxy is net/http/httputil.ReverseProxy, which adds one header and checks nothing.
//
// A soak has four agents of both eras with accounts of their own, three servers (mock.go), streams on which agents listen, and calls that are cancelled,
// cut off, or lose their session. The mock counts; the table and the exit code say what is not as it must be.
//
// It imports nothing of Patchbay's: it sets up what it needs by the JSON API.
package main
