// Package openapitest checks tools that package openapi made against their document.
//
//	sample.go     values that a schema accepts, with characters that have to be escaped
//	definition.go the document, read a second time, without package openapi
//	parts.go      that a tool has each parameter, member and answer of the document
//	reader.go     what a server of the document reads in a request
//	trip.go       one call: arguments, request over HTTP, answer, result; all are compared
//	tool.go       what clients and providers say of a definition
//
// The second reader shares no code with the first, so that an error of one is seen by the other.
package openapitest
