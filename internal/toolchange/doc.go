// Package toolchange compares two definitions of a tool and rates the risk of the change. It is pure: it has no
// policy, store or clock.
//
//	before, now ──► text        new links, hidden characters, instructions to the model, names of other connectors' tools
//	                inputSchema parameters and accepted values, wider or narrower
//	                outputSchema
//	                annotations with the defaults of the specification
//	                request     of an HTTP API (binding.go): its address, method, path and form
//	                other       title, icons and _meta are cosmetic; unknown members are risky
//
// A [Kind] has a [Risk]. A change has the highest risk of its kinds:
//
//	none  cosmetic, removed
//	low   parameter_removed, required_added, required_removed, type_narrowed, output_schema,
//	      request_changed, annotation_safer, and new_tool of a tool that claims to be read-only
//	high  all others: they may instruct or deceive an agent, or make it send more data
//
// annotation_safer is low although a server may lie. Hints are only its claim anyway, and a server that starts
// to send annotations must not have all its tools held.
//
// Definitions are hostile input: a [Budget] bounds the work, so that a comparison takes at most 50 ms and 16 MiB
// (BenchmarkHostileDefinitions). Parts beyond a bound are not compared and count as type_changed, with a sentence
// that says so. The patterns of instruction_like are in instructions.go. They cover known attacks and prove
// nothing.
//
// Definitions are compared as decoded values, not as nodes of package jsonschema, because a comparison reads a string
// many times and a node unescapes it each time.
package toolchange
