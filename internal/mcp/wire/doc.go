// Package wire encodes and scans MCP's JSON-RPC messages.
//
// A reply is scanned once without decoding. Entries of a tool list are slices of the received bytes: key order,
// unknown fields and integers above 2^53 survive. An invalid entry does not affect the others.
//
//	scan.go, plain_bytes.go  the JSON scanner
//	reply.go, tools.go       replies of servers, pages of a tool list
//	incoming.go              messages of clients
//	request.go               encoding
//	shape.go                 list entries as the official SDKs accept them
package wire
