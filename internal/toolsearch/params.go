package toolsearch

import (
	"encoding/json"
	"slices"
	"strings"
)

// Bounds of ReadParams.
const (
	maxSchema      = 256 << 10 // bytes of a schema that is read
	maxParams      = 64
	maxParamDepth  = 3
	maxEnumValues  = 16
	maxParamText   = 256 // bytes of a description, with the enum values
	maxSchemaNodes = 512 // schemas visited, against schemas that branch without properties
)

// schemaNode has the keywords that ReadParams follows. Each is raw, so that a malformed one loses only itself.
type schemaNode struct {
	Properties  json.RawMessage `json:"properties"`
	Items       json.RawMessage `json:"items"`
	AllOf       json.RawMessage `json:"allOf"`
	AnyOf       json.RawMessage `json:"anyOf"`
	OneOf       json.RawMessage `json:"oneOf"`
	Description json.RawMessage `json:"description"`
	Enum        json.RawMessage `json:"enum"`
}

// ReadParams returns the properties of an input schema by name, and those of nested objects after them.
// The values of an enum stand at the end of the description. Malformed schemas give what is readable, and
// schemas above 256 KiB give nothing. It does not follow references.
func ReadParams(inputSchema []byte) []Param {
	if len(inputSchema) > maxSchema {
		return nil
	}
	r := paramReader{}
	r.readSchema(inputSchema, 0)
	return r.params
}

type paramReader struct {
	params []Param
	nodes  int
}

// readSchema appends the properties of the schema and of its parts.
func (r *paramReader) readSchema(raw json.RawMessage, depth int) schemaNode {
	var node schemaNode
	if r.nodes++; r.nodes > maxSchemaNodes || depth > 2*maxParamDepth {
		return node
	}
	if json.Unmarshal(raw, &node) != nil {
		return schemaNode{}
	}
	r.readProperties(node.Properties, depth)
	if len(node.Items) > 0 {
		r.readSchema(node.Items, depth+1)
	}
	for _, list := range []json.RawMessage{node.AllOf, node.AnyOf, node.OneOf} {
		var parts []json.RawMessage
		if len(list) == 0 || json.Unmarshal(list, &parts) != nil {
			continue
		}
		for _, part := range parts {
			r.readSchema(part, depth+1)
		}
	}
	return node
}

func (r *paramReader) readProperties(raw json.RawMessage, depth int) {
	var properties map[string]json.RawMessage
	if len(raw) == 0 || depth > maxParamDepth || json.Unmarshal(raw, &properties) != nil {
		return
	}
	names := make([]string, 0, len(properties))
	for name := range properties {
		names = append(names, name)
	}
	slices.Sort(names)
	first := len(r.params)
	for _, name := range names[:min(len(names), maxParams-first)] {
		r.params = append(r.params, Param{Name: name})
	}
	for i := first; i < first+len(names) && i < maxParams; i++ {
		node := r.readSchema(properties[names[i-first]], depth+1)
		r.params[i].Description = paramText(node)
	}
}

// paramText returns the description of a parameter and the values of its enum.
func paramText(node schemaNode) string {
	var text string
	_ = json.Unmarshal(node.Description, &text) // another type than string is no description
	var values []any
	_ = json.Unmarshal(node.Enum, &values)
	var words []string
	for _, value := range values[:min(len(values), maxEnumValues)] {
		if s, ok := value.(string); ok {
			words = append(words, cutText(s, maxWord))
		}
	}
	text = cutText(text, maxParamText)
	if len(words) == 0 {
		return text
	}
	return strings.TrimSpace(text + "\n" + strings.Join(words, " "))
}

// cutText returns at most limit bytes of s. A rune that is cut is no letter to tokenize.
func cutText(s string, limit int) string {
	return s[:min(len(s), limit)]
}
