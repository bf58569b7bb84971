// Command search collects the tool definitions with which internal/toolsearch is measured, and the questions that belong to them. The method
// is in internal/toolsearch/testdata/METHOD.txt.
//
//	conformance/search/fetch                       installs the servers of servers.txt and fetches the documents
//	go run ./conformance/search collect            lists the tools, writes definitions.jsonl.gz and sources.json
//	go run ./conformance/search batches -dir DIR   writes DIR/batch-1.jsonl to batch-4.jsonl, for the writers of questions
//	go run ./conformance/search assemble -dir DIR  checks DIR/out-1.jsonl and so on, writes questions.jsonl.gz
//
// source.go reads the list, server.go asks running servers, document.go reads API documents, definition.go shortens definitions,
// part.go splits by server, batch.go chooses tools, assemble.go checks the questions.
package main
