package agentview

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp/toolfmt"
)

// Names of the tools of a lean list. No exposed name equals one: those begin with mcp_.
const (
	FindTools      = "find_tools"
	DescribeTools  = "describe_tools"
	CallReading    = "call_reading"
	CallWriting    = "call_writing"
	CallDestroying = "call_destroying"
)

// Bounds of the answers of [FindTools] and [DescribeTools], in tools.
const (
	MaxDefined   = 3  // with their definitions
	MaxNamed     = 7  // named after them
	MaxDescribed = 10 // of one request
)

// CallWith returns the tool of a lean list that calls the tool. A tool without annotations may destroy (MCP 2025-11-25,
// ToolAnnotations).
func (t *Tool) CallWith() string {
	switch {
	case t.Hints.ReadOnly != nil && *t.Hints.ReadOnly:
		return CallReading
	case t.Hints.Destructive != nil && !*t.Hints.Destructive:
		return CallWriting
	default:
		return CallDestroying
	}
}

// maxAbout bounds About, in characters.
const maxAbout = 120

// About returns a listed tool's title, or the beginning of its description, on one line.
func (t *Tool) About() string {
	d := connectors.DecodeTool(t.Raw)
	line, _, _ := strings.Cut(strings.TrimSpace(d.Description), "\n")
	line = cmp.Or(d.DisplayTitle(), line)
	if runes := []rune(line); len(runes) > maxAbout {
		return string(runes[:maxAbout-1]) + "…"
	}
	return line
}

// ServedDefinition returns the definition of a listed tool under its exposed name, as the full list has it. nil: modern
// clients must not see it.
func (t *Tool) ServedDefinition(modern bool) []byte {
	e := t.exposedEntry()
	if modern && e.legacyOnly {
		return nil
	}
	return e.appendJSON(nil, modern)
}

// AcceptsLean reports whether the tools of a lean list may be called. With ToolListAuto they stay callable when the list
// becomes a full one, for clients with the list of before.
func (v *View) AcceptsLean() bool { return v.Agent.ToolList != connectors.ToolListFull }

// isLean reports whether the agent's list is a lean one.
func (v *View) isLean() bool {
	switch v.Agent.ToolList {
	case connectors.ToolListLean:
		return true
	case connectors.ToolListAuto:
		return v.Size(toolfmt.OpenAI).Tokens > connectors.MaxFullListTokens
	default:
		return false
	}
}

// PinnedTools returns the listed tools that stay in a lean list.
func (v *View) PinnedTools() []*Tool {
	var pinned []*Tool
	for _, t := range v.Tools {
		if t.Pinned && len(pinned) < connectors.MaxPinnedTools {
			pinned = append(pinned, t)
		}
	}
	return pinned
}

// LeanSize returns the size of a lean list of the agent, whatever its list is.
func (v *View) LeanSize(f toolfmt.Format) Size {
	size := sumSizes(v.PinnedTools(), f)
	for _, raw := range v.leanDefinitions() {
		size.Add(MeasureTool(connectors.DecodeTool(raw).Name, raw, f))
	}
	return size
}

// ListSize returns the size of the agent's list, full or lean.
func (v *View) ListSize(f toolfmt.Format) Size {
	size := v.Size(f)
	if v.Lean {
		size = v.LeanSize(f)
	}
	for _, e := range appendResultReader(nil, v.Shapes(), v.ResultReader()) {
		size.Add(MeasureTool(resultReader, e.raw, f))
	}
	return size
}

// leanEntries returns the entries of a lean list.
func (v *View) leanEntries() []listEntry {
	offersTasks := map[string]bool{}
	for _, t := range v.Tools {
		offersTasks[t.CallWith()] = offersTasks[t.CallWith()] || t.OffersTasks
	}
	var entries []listEntry
	for _, raw := range v.leanDefinitions() {
		e := listEntry{raw: raw}
		if offersTasks[connectors.DecodeTool(raw).Name] {
			e.offersTasks, e.legacy = true, newVariant(withTaskSupport(raw, TaskOptional), raw)
		}
		entries = append(entries, e)
	}
	for _, t := range v.PinnedTools() {
		entries = append(entries, t.exposedEntry())
	}
	return entries
}

// leanDefinition is the definition of a tool of a lean list.
type leanDefinition struct {
	Name         string          `json:"name"`
	Title        string          `json:"title"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema,omitempty"`
	Annotations  leanHints       `json:"annotations"`
}

// leanHints are the annotations. Tools of servers are an open world, their definitions are not.
type leanHints struct {
	ReadOnly    bool  `json:"readOnlyHint"`
	Destructive *bool `json:"destructiveHint,omitempty"`
	OpenWorld   bool  `json:"openWorldHint"`
}

const (
	definedSchema = `{"type":"array","items":{"type":"object","properties":{` +
		`"call_with":{"type":"string"},"definition":{"type":"object"}},"required":["call_with","definition"]}}`
	namedSchema = `{"type":"array","items":{"type":"object","properties":{` +
		`"name":{"type":"string"},"about":{"type":"string"},"call_with":{"type":"string"}},"required":["name","call_with"]}}`
	findInput = `{"type":"object","properties":{"words":{"type":"string","maxLength":4096,"description":` +
		`"Product, action and object, e.g. \"create an issue in Linear\""},"connector":{"type":"string","description":` +
		`"Searches this connector alone, e.g. linear"}},"required":["words"],"additionalProperties":false}`
	findOutput    = `{"type":"object","properties":{"tools":` + definedSchema + `,"more":` + namedSchema + `},"required":["tools","more"]}`
	describeInput = `{"type":"object","properties":{"names":{"type":"array","items":{"type":"string"},"minItems":1,"maxItems":10}},` +
		`"required":["names"],"additionalProperties":false}`
	describeOutput = `{"type":"object","properties":{"tools":` + definedSchema + `,"more":` + namedSchema +
		`,"unknown":{"type":"array","items":{"type":"string"}},"note":{"type":"string"}},"required":["tools","more","unknown"]}`
	callInput = `{"type":"object","properties":{"name":{"type":"string","description":"Name of the tool"},"arguments":{"type":"object",` +
		`"description":"Arguments of the tool, by its inputSchema"}},"required":["name"],"additionalProperties":false}`
)

// leanDefinitions returns the definitions of the tools of a lean list. Only the directory depends on the agent, and it
// stands at the end of its definition's text, so that the rest stays in a model's prompt cache.
func (v *View) leanDefinitions() [][]byte {
	no, yes := false, true
	definitions := []leanDefinition{
		{
			Name: CallReading, Title: "Call a tool that only reads", InputSchema: json.RawMessage(callInput),
			Description: "Calls a tool that find_tools names with call_with: call_reading",
			Annotations: leanHints{ReadOnly: true, OpenWorld: true},
		},
		{
			Name: CallWriting, Title: "Call a tool that adds or changes data", InputSchema: json.RawMessage(callInput),
			Description: "Calls a tool that find_tools names with call_with: call_writing, which adds or changes data and destroys none",
			Annotations: leanHints{Destructive: &no, OpenWorld: true},
		},
		{
			Name: CallDestroying, Title: "Call a tool that may destroy data", InputSchema: json.RawMessage(callInput),
			Description: "Calls a tool that find_tools names with call_with: call_destroying, which may overwrite or delete data",
			Annotations: leanHints{Destructive: &yes, OpenWorld: true},
		},
		{
			Name: DescribeTools, Title: "Describe tools", InputSchema: json.RawMessage(describeInput), OutputSchema: json.RawMessage(describeOutput),
			Description: "Returns the definitions of tools by name, at most 10",
			Annotations: leanHints{ReadOnly: true},
		},
		{
			Name: FindTools, Title: "Find tools", InputSchema: json.RawMessage(findInput), OutputSchema: json.RawMessage(findOutput),
			Description: findText + v.connectorDirectory(),
			Annotations: leanHints{ReadOnly: true},
		},
	}
	raws := make([][]byte, len(definitions))
	for i, d := range definitions {
		raws[i] = encodeJSON(d)
	}
	return raws
}

// encodeJSON encodes a value without HTML escapes.
func encodeJSON(value any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		panic(err) // only values that always marshal
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
