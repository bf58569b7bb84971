// Command openapi checks package openapi against public documents: how many operations become tools, which of them clients and
// providers accept, and how many calls make a round trip against a server of the same document. With PATCHBAY_URL and PATCHBAY_KEY,
// the clients of the Go SDK and the TypeScript SDK list all tools through that gateway, and call some. It prints a table.
//
//	make openapi-conformance         fetches the documents, starts a Patchbay, and prints the table
//	go run ./conformance/openapi     the table without the clients; -v also prints what failed
//
// gateway.go has the clients.
package main
