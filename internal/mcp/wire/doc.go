// Package wire is the JSON-RPC that MCP is written in: it builds requests and finds the reply in what came back.
//
// A reply is walked once, without decoding it. What a sync is after, the entries of a tool list, are slices of the bytes
// that arrived: key order, unknown fields and integers past 2^53 survive, and a broken entry does not take the others
// with it.
//
// It reads and writes bytes in memory; HTTP and time are the caller's.
package wire
