// Command gateway compares Patchbay's gateway with a bare reverse proxy, in alternating turns of one run, and
// soak-tests it with failing servers.
//
//	make bench-gateway                     the table of docs/performance.md
//	gateway run [-rounds 7] [-calls 10000]  the same with other numbers
//	make soak                              a million calls (soak.go): every reply is checked, and remaining resources are counted
//	gateway soak [-calls 1000000]          the same with another number
//	gateway profile -profile FOLDER        CPU profiles of Patchbay, one per kind of call
//	gateway upstream, proxy, mock          the servers that run and soak start
//
// The MCP server, the proxy, Patchbay and the load generator are separate processes, so that the CPU of each is
// read from /proc. Patchbay is the ordinary program with its own PostgreSQL; their CPU is shown separately. The
// proxy is net/http/httputil.ReverseProxy. It adds one header and checks nothing.
//
// A soak has four agents of both protocol eras with their own accounts, three servers (mock.go), listener
// streams, and calls that are canceled, cut off, or lose their session. The mock counts requests. The table and
// the exit code report every deviation.
//
// It does not import Patchbay's packages; it uses the JSON API.
package main
