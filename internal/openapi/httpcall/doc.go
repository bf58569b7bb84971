// Package httpcall calls tools that package openapi made: arguments become an HTTP request, the answer becomes a result of MCP.
//
//	arguments ──Build──► Request        request.go; styles in style.go, escapes in escape.go, bodies in body.go and multipart.go,
//	                                    each within the limit of its output (output.go)
//	Response ──NewResult──► result      result.go; blocks in content.go, Retry-After in retry.go
//	Pager                               further pages of an answer, one request at a time (pages.go)
//	Filter                              a small part of jq (filter.go, filter_check.go, filter_functions.go)
//
// Nothing is sent: the caller sends, adds the credential and bounds sizes and times. Scheme, host and path of a request are those of
// the binding. An argument cannot leave its path segment, add a parameter or end a header.
package httpcall
