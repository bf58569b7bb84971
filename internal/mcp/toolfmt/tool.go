package toolfmt

import "encoding/json"

// Format is a way of writing tools down.
type Format string

// The formats.
const (
	MCP       Format = "mcp"
	OpenAI    Format = "openai"
	Anthropic Format = "anthropic"
	Google    Format = "google"
)

// Tool is what is known of one tool.
type Tool struct {
	Name        string          // towards the model: 1–64 of [A-Za-z0-9_-], beginning with a letter
	Title       string          // may be empty
	Description string          // likewise
	InputSchema json.RawMessage // an object; anything else counts as a tool without parameters
	Annotations json.RawMessage // an object; anything else says nothing
	Definition  json.RawMessage // the tool as its server sent it; of MCP alone
}

// Definitions writes tools as the elements of a request's "tools". Google takes all of them in one element; there is none
// where there are no tools. An unknown format gives nil.
func Definitions(f Format, tools []Tool) []json.RawMessage {
	switch f {
	case MCP:
		return each(tools, renamed)
	case OpenAI:
		return each(tools, openAI)
	case Anthropic:
		return each(tools, anthropic)
	case Google:
		return google(tools)
	}
	return nil
}

func each(tools []Tool, write func(Tool) []byte) []json.RawMessage {
	list := make([]json.RawMessage, len(tools))
	for i, t := range tools {
		list[i] = write(t)
	}
	return list
}

// openAI writes a function tool of Chat Completions (OpenAI API reference, FunctionObject).
func openAI(t Tool) []byte {
	out := append([]byte(nil), `{"type":"function","function":{"name":`...)
	out = quote(out, t.Name)
	out = append(out, `,"description":`...)
	out = quote(out, t.describe(openAIDescription))
	out = append(out, `,"parameters":`...)
	schema, _ := parameters(t.InputSchema, OpenAI)
	return append(append(out, schema...), "}}"...)
}

// anthropic writes a client tool of the Messages API (Anthropic API reference, Tool).
func anthropic(t Tool) []byte {
	schema, unsaid := parameters(t.InputSchema, Anthropic)
	out := append([]byte(nil), `{"name":`...)
	out = quote(out, t.Name)
	out = append(out, `,"description":`...)
	out = quote(out, t.describe(otherDescription, unsaid))
	out = append(out, `,"input_schema":`...)
	return append(append(out, schema...), '}')
}
