// Package agentview caches what each agent may see and call, so that a warm gateway request needs no database
// query.
//
//	token text ──sha256──► tokenEntry ──► agentEntry ──► View: connectors, tools, prompts, resources, rendered lists
//	                                        ▲
//	database notices (Cache.OnNotify) ──────┘ drop what changed
//
// A [View] is immutable. It is loaded as a whole, once for all waiting requests (cache.go, build.go), and
// dropped as a whole. Three rules keep it current:
//
//  1. Every relevant change sends a notice in its own transaction (SQL function say_change).
//  2. A load that overlaps with a notice is repeated.
//  3. While the LISTEN connection is down, entries expire after one second ([Cache.SetConnected]).
//
// So a revoked token or a removed grant takes effect within a second, in every process. Agents with equal
// definitions and lists share them (intern.go).
//
// The package also checks arguments against JSON Schema: schema_compile.go builds a plan, plan_run.go applies
// it to the bytes of a call, and schema_explain.go writes the error. The compiler reads the text of a schema, not the
// nodes of package jsonschema, because the nodes of 1 MiB of text may take 60 MiB, and a check is bounded to 16 MiB.
//
// A view finds its tools by words (search.go). Successful calls after an agent's searches teach the words to its tenant, in
// stored rows (learning.go, learning_store.go). This is best effort: no answer depends on which process serves a request.
//
// With an endpoint of the operator for embeddings, definitions get vectors in the background, and searches also go by meaning
// (vectors.go).
//
// It does not choose the credential of a call (package credentials), nor decide on approvals (package
// toolcall).
package agentview
