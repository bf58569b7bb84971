// Command generate writes the types and operations of package client from Patchbay's OpenAPI document.
//
// \tgo run ./client/internal/generate [-into client]
//
// It fails for a form of schema that is new to it: a person decides its Go type.
package main
