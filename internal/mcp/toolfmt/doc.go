// Package toolfmt converts tools to the formats of model providers: definitions for a request's tools, and tool
// results for the message that follows. All functions are pure.
//
//	               definition (tool.go)                            result (message.go)
//	MCP            the server's definition, renamed (rename.go)    unchanged
//	OpenAI         {type: "function", function: {…}}               a message of role "tool"
//	Anthropic      {name, description, input_schema}               a tool_result block
//	Google         {functionDeclarations: [{…}]}                   a functionResponse part
//
// A provider refuses a whole request for one invalid tool, so definitions are repaired instead of passed on.
// OpenAI and Anthropic read JSON Schema: theirs is the server's own, byte for byte, unless it has one of the
// few things known to be refused (repair.go). Google reads a dialect of OpenAPI: its schemas are rewritten
// within the documented subset and within bounds (google.go, dialect.go, union.go, walk.go). What it cannot
// express is left out, so that a schema gets wider rather than narrower (a list in place of any value is the
// exception): the server still validates the arguments.
//
// Schemas are hostile input. The work and the memory of one conversion are bounded (work.go), and so are its
// regular expressions (pattern.go). A schema that is too large is not listed, and the description says so.
//
// Facts about providers come from their published references, cited where they are used.
package toolfmt
