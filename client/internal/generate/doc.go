// Command generate writes the types and the operations of package client from the OpenAPI document that Patchbay serves.
//
//	go run ./client/internal/generate [-into client]
//
// A form that the document has not used before fails the command: it is for a person to decide what it is in Go.
package main
