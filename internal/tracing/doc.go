// Package tracing is how the program tells where the time of a request went: spans, as OpenTelemetry has them.
//
//	Tracer        what the doors, the jobs and the scheduled syncs begin traces with; nil where tracing is off
//	Child, Client a part of what is under way, found by its context; nothing where nobody looks
//	Carry         trace context in and out: headers, _meta of MCP (SEP-414), jobs' metadata
//	otlp          sends what ended to the operator's collector
//
// A span says what was done, how long it took and what kind of end it had. It never says with what: no arguments, results, headers,
// queries or paths of addresses, and no text of an error, which may repeat any of these. Names are route patterns and the names that an
// admin or a sync has stored, never what a caller made up. What libraries note of themselves is held to that by package otlp.
//
// While tracing is off all of this costs one look at a variable, and no allocation.
package tracing
