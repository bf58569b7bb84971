package toolfmt

import (
	"encoding/json"

	"patchbay/internal/jsonschema"
)

// Format is a format of tool definitions.
type Format string

// The formats.
const (
	MCP       Format = "mcp"
	OpenAI    Format = "openai"
	Anthropic Format = "anthropic"
	Google    Format = "google"
)

// Tool describes one tool.
type Tool struct {
	Name        string          // for the model: 1–64 of [A-Za-z0-9_-], beginning with a letter
	Title       string          // for the model: 1–64 of [A-Za-z0-9_-], beginning with a letter
	Description string          // optional
	InputSchema json.RawMessage // optional
	Annotations json.RawMessage // an object; anything else means no parameters
	Definition  json.RawMessage // an object; anything else is ignored
}

// Definitions returns the elements of a request's "tools". Google has one element for all, none for no tools.
// An unknown format returns nil.
func Definitions(f Format, tools []Tool) []json.RawMessage {
	switch f {
	case MCP:
		return formatEach(tools, renamedDefinition)
	case OpenAI:
		return formatEach(tools, openAITool)
	case Anthropic:
		return formatEach(tools, anthropicTool)
	case Google:
		return googleTools(tools)
	}
	return nil
}

func formatEach(tools []Tool, write func(Tool) []byte) []json.RawMessage {
	list := make([]json.RawMessage, len(tools))
	for i, t := range tools {
		list[i] = write(t)
	}
	return list
}

// openAITool returns a function tool of Chat Completions (OpenAI API reference, FunctionObject).
func openAITool(t Tool) []byte {
	out := append([]byte(nil), `{"type":"function","function":{"name":`...)
	out = jsonschema.AppendQuoted(out, t.Name)
	schema, unsaid := convertParameters(t.InputSchema, OpenAI)
	out = append(out, `,"description":`...)
	out = jsonschema.AppendQuoted(out, t.modelDescription(maxOpenAIDescription, unsaid))
	out = append(out, `,"parameters":`...)
	return append(append(out, schema...), "}}"...)
}

// anthropicTool returns a client tool of the Messages API (Anthropic API reference, Tool).
func anthropicTool(t Tool) []byte {
	schema, unsaid := convertParameters(t.InputSchema, Anthropic)
	out := append([]byte(nil), `{"name":`...)
	out = jsonschema.AppendQuoted(out, t.Name)
	out = append(out, `,"description":`...)
	out = jsonschema.AppendQuoted(out, t.modelDescription(maxOtherDescription, unsaid))
	out = append(out, `,"input_schema":`...)
	return append(append(out, schema...), '}')
}
