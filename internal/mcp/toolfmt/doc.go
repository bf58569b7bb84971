// Package toolfmt says tools in the words of the models' providers: definitions for a request's tools, and what a tool
// answered for the message after it. Everything here is a pure function of bytes.
//
//	               definition                                      result
//	MCP            the tool as its server sent it, renamed         as it is
//	OpenAI         {type: "function", function: {…}}               OpenAIResult: a message of role "tool"
//	Anthropic      {name, description, input_schema}               AnthropicResult: a tool_result block
//	Google         {functionDeclarations: [{…}]}                   GoogleResult: a functionResponse part
//
// Providers refuse a whole request for one tool that they do not like, so that a definition is mended rather than passed on to
// fail. OpenAI and Anthropic read JSON Schema: theirs is the server's own, byte for byte, unless it has one of the few things
// that they are known to refuse (mend.go). Google reads a dialect of OpenAPI: for it a schema is written anew, within the
// documented subset and within bounds (google.go). What cannot be said there is left out, so that a schema becomes wider
// rather than narrower (a list in the place of just anything is the exception): the server still checks what it is called with.
//
// The facts about the providers come from their published references; each stands where it is used, with its source.
package toolfmt
