// Package jsonschema reads JSON Schema documents for the packages that describe, compare, translate or check them.
//
//	node.go     a value of a document, with the order of members and the spelling of scalars
//	decode.go   decodes a document within [Limits]
//	ref.go      resolves $ref within a document
//	encode.go   makes and writes values
//	quote.go    JSON strings
//
// It is lenient: a keyword with a value of the wrong kind is left to the reader, and an invalid document is nil.
// Documents are hostile input, so decoding and the resolving of references are bounded. Nothing is fetched:
// references to anchors or other documents have no target.
package jsonschema
