// Package toolchange says what changed between two definitions of a tool, and how risky that is. It is pure: bytes go in, and
// it knows no policy, no store and no clock.
//
//	before, now ──► text        new links, hidden characters, words that order a model about, another connector's tool
//	                inputSchema parameters and what they take, wider or narrower
//	                outputSchema
//	                annotations with the defaults of the specification
//	                the rest    title, icons and _meta are cosmetic; what it does not know is risky
//
// A [Kind] has a [Risk], and a change has that of its worst kind:
//
//	none  cosmetic, removed
//	low   parameter_removed, required_added, required_removed, type_narrowed, output_schema, annotation_safer,
//	      and new_tool of a tool that says that it only reads
//	high  all others: what an agent may now be told, talked into, or made to hand over
//
// annotation_safer is low although a server may lie: hints are its word either way, and a server that begins to write annotations
// must not have all of its tools held.
//
// Definitions are hostile: depth, size and references are bounded, and what lies beyond the bounds counts as type_changed. What the
// words of instruction_like are, instructions.go lists; it is a list of what has been seen, and no proof of anything.
package toolchange
