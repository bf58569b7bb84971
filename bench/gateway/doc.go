// Command gateway measures Patchbay's gateway against a bare reverse proxy, in one run and by turns.
//
//	make bench-gateway                     the table of docs/performance.md
//	gateway run [-rounds 7] [-calls 4000]  the same, with other numbers
//	gateway soak [-calls 1000000]          every reply is checked, and what is left behind is counted
//	gateway profile -profile FOLDER        CPU profiles of Patchbay, one for each kind of call
//	gateway upstream, gateway proxy        the servers that run starts, by themselves
//
// The MCP server behind both, the proxy and Patchbay are processes of their own, and so is what makes the load: the CPU of one is
// read from /proc and holds nothing of the others. Patchbay is the ordinary program with a PostgreSQL of its own; its CPU is told
// with and without that of PostgreSQL. The proxy is net/http/httputil.ReverseProxy, which adds one header and checks nothing.
//
// It imports nothing of Patchbay's: it sets up what it needs by the JSON API.
package main
