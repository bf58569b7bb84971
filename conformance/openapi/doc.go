// Command openapi checks package openapi against public documents: how many operations become tools, which of them clients and
// providers accept, and how many calls make a round trip against a server of the same document. It prints a table.
//
//	conformance/openapi/fetch        fetches the documents, once
//	go run ./conformance/openapi     prints the table; -v also prints what failed
package main
