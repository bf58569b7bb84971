package openapi

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"patchbay/internal/fault"
	"patchbay/internal/jsonschema"
)

// Tool is an operation as a tool.
type Tool struct {
	Name       string
	Definition json.RawMessage // of MCP
	Binding    *Binding
}

// maxDescription bounds the description of a tool, in bytes.
const maxDescription = 2 << 10

// Tool makes the tool of an operation. The error is a fault with a sentence.
func (d *Document) Tool(o *Operation) (*Tool, error) {
	server, err := d.chooseServer(o)
	if err != nil {
		return nil, err
	}
	b := &Binding{Version: BindingVersion, Method: o.Method, Server: server, Security: d.bindSecurity(o)}
	input, err := d.writeInput(o, b)
	if err != nil {
		return nil, err
	}
	output := d.writeOutput(o, b)
	return &Tool{Name: o.Name, Definition: o.writeDefinition(input, output), Binding: b}, nil
}

// bindSecurity returns the requirements with what they mean. Requirements of unknown schemes are left out.
func (d *Document) bindSecurity(o *Operation) (all [][]BoundScheme) {
	for _, requirement := range o.Security {
		bound := []BoundScheme{}
		for _, use := range requirement {
			if s := d.schemes[use.Scheme]; s != nil {
				scopes := slices.Clone(use.Scopes)
				slices.Sort(scopes)
				bound = append(bound, BoundScheme{Scheme: s.Name, Type: s.Type, In: s.In, Parameter: s.Parameter, Scopes: slices.Compact(scopes)})
			}
		}
		if len(bound) == len(requirement) {
			slices.SortFunc(bound, func(a, b BoundScheme) int { return strings.Compare(a.Scheme, b.Scheme) })
			all = append(all, bound)
		}
	}
	return all
}

// writeDefinition writes the definition of MCP. output may be nil.
func (o *Operation) writeDefinition(input, output *jsonschema.Node) json.RawMessage {
	tool := jsonschema.NewObject().Set("name", jsonschema.NewString(o.Name))
	if o.Title != "" {
		tool.Set("title", jsonschema.NewString(o.Title))
	}
	tool.Set("description", jsonschema.NewString(o.toolDescription()))
	tool.Set("inputSchema", input)
	if output != nil {
		tool.Set("outputSchema", output)
	}
	annotations := methodAnnotations(o.Method)
	for _, name := range slices.Sorted(maps.Keys(o.Annotations)) {
		annotations.Set(name, boolNode(o.Annotations[name]))
	}
	tool.Set("annotations", annotations)
	return tool.AppendTo(nil)
}

// toolDescription returns summary and description.
func (o *Operation) toolDescription() string {
	text := o.Description
	if o.Title != "" && !strings.HasPrefix(text, o.Title) {
		text = strings.TrimSpace(o.Title + "\n\n" + text)
	}
	text = cmp.Or(text, o.Key())
	if o.Deprecated {
		text = "Deprecated. " + text
	}
	return shortenText(text, maxDescription)
}

// methodHints are what a method promises (RFC 9110 section 9.2). What writes may do anything else: that is not said.
var methodHints = map[string][]jsonschema.Member{
	"GET": readHints, "HEAD": readHints, "OPTIONS": readHints, "QUERY": readHints,
	"PUT":    {{Name: "readOnlyHint", Value: boolNode(false)}, {Name: "idempotentHint", Value: boolNode(true)}},
	"DELETE": {{Name: "readOnlyHint", Value: boolNode(false)}, {Name: "destructiveHint", Value: boolNode(true)}, {Name: "idempotentHint", Value: boolNode(true)}},
}

var readHints = []jsonschema.Member{{Name: "readOnlyHint", Value: boolNode(true)}}

func methodAnnotations(method string) *jsonschema.Node {
	hints, known := methodHints[method]
	if !known {
		hints = []jsonschema.Member{{Name: "readOnlyHint", Value: boolNode(false)}}
	}
	return jsonschema.NewObject(append(slices.Clone(hints), jsonschema.Member{Name: "openWorldHint", Value: boolNode(true)})...)
}

// IsIdempotent reports whether a method may be repeated (RFC 9110 section 9.2.2).
func IsIdempotent(method string) bool {
	switch method {
	case "GET", "HEAD", "OPTIONS", "QUERY", "PUT", "DELETE":
		return true
	}
	return false
}

var errPath = fault.Errorf(fault.Invalid, "The operation's path can't be used.")
