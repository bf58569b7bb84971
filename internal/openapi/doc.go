// Package openapi turns API documents into tools: OpenAPI 3.0, 3.1 and 3.2, Swagger 2, and endpoints written by hand.
//
//	document ──Read──► Document: servers, security schemes, operations ──Tool──► definition and binding
//	Endpoint ──Tool──────────────────────────────────────────────────────────────►
//
//	read.go        documents as trees, within bounds; yaml.go reads YAML
//	reference.go   $ref in the document; bundle.go brings files that references lead to into it
//	swagger.go     what Swagger 2 calls differently
//	operation.go   the list of operations; name.go names them
//	tool.go        one operation as a tool
//	input.go       parameters and body as one input schema, with one name for each value
//	output.go      the answer as an output schema
//	schema.go      Schema Objects as JSON Schema 2020-12
//	server.go      addresses; security.go: schemes and requirements
//	binding.go     all that a call needs; package httpcall makes requests of it
//	endpoint.go    endpoints without a document
//
// A definition is what a model sees: the MCP tool. A binding is what Patchbay needs to call it. Host, path, parameters
// and security requirements are in the binding, so that a change of any of them can be reviewed.
//
// Documents are hostile input. Nodes, depth, references and the size of each definition are bounded, no goroutine is
// started, and nothing is fetched. Input schemas say what the document says. Where a bound is reached, a schema gets wider:
// the API still checks. Output schemas are wider on purpose (output.go).
package openapi
