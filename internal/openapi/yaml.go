package openapi

import (
	"encoding/json"
	"math"
	"regexp"
	"strconv"

	"go.yaml.in/yaml/v3"

	"patchbay/internal/fault"
	"patchbay/internal/jsonschema"
)

// maxYAMLNodes is below maxNodes, because a node of the library takes 200 bytes more. GitHub's document has 540 000.
const maxYAMLNodes = 700_000

// decodeYAML decodes one YAML document with at most nodes values. Nodes are counted before the library makes them.
func decodeYAML(document []byte, nodes int) (*jsonschema.Node, error) {
	if estimateNodes(document) > maxYAMLNodes {
		return nil, errTooManyValues
	}
	var root yaml.Node
	if err := yaml.Unmarshal(document, &root); err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "The document is neither valid JSON nor valid YAML.")
	}
	if root.Kind != yaml.DocumentNode || len(root.Content) == 0 {
		return nil, fault.Errorf(fault.Invalid, "The document is empty.")
	}
	c := yamlConverter{left: nodes, bytes: MaxBytes}
	node := c.convertNode(root.Content[0], 1)
	if c.left <= 0 {
		return nil, errTooManyValues
	}
	return node, nil
}

// estimateNodes returns an upper bound for the nodes of block and flow collections: each begins after one of these.
func estimateNodes(document []byte) (n int) {
	for i, c := range document {
		switch c {
		case '\n', ',', '[', '{':
			n++
		case ':', '-', '?':
			if i+1 == len(document) || document[i+1] <= ' ' || c == ':' && i > 0 && (document[i-1] == '"' || document[i-1] == '\'') {
				n++
			}
		}
	}
	return n
}

// yamlConverter converts nodes within a number of nodes and bytes. A value that is repeated by an alias counts each time.
type yamlConverter struct {
	left  int
	bytes int // left for texts
}

func (c *yamlConverter) convertNode(y *yaml.Node, depth int) *jsonschema.Node {
	if c.left--; c.left <= 0 || depth > maxDepth {
		return nullNode()
	}
	switch y.Kind {
	case yaml.MappingNode:
		return c.convertMapping(y, depth)
	case yaml.SequenceNode:
		list := jsonschema.NewArray()
		for _, item := range y.Content {
			list.Items = append(list.Items, c.convertNode(item, depth+1))
		}
		return list
	case yaml.AliasNode:
		return c.convertNode(y.Alias, depth+1)
	case yaml.ScalarNode:
		c.countBytes(y.Value)
		return convertScalar(y)
	}
	return nullNode()
}

// countBytes ends the conversion where texts are longer than a document can be.
func (c *yamlConverter) countBytes(text string) {
	if c.bytes -= len(text); c.bytes < 0 {
		c.left = 0
	}
}

func (c *yamlConverter) convertMapping(y *yaml.Node, depth int) *jsonschema.Node {
	object := &jsonschema.Node{Kind: jsonschema.Object, Members: make([]jsonschema.Member, 0, len(y.Content)/2)}
	seen := map[string]int{}
	for i := 0; i+1 < len(y.Content); i += 2 {
		key, value := y.Content[i], y.Content[i+1]
		if key.Kind == yaml.AliasNode {
			key = key.Alias
		}
		if key.Tag == "!!merge" {
			c.mergeMapping(object, seen, value, depth)
			continue
		}
		c.countBytes(key.Value)
		at, known := seen[key.Value]
		if !known || at < 0 {
			seen[key.Value] = len(object.Members)
			object.Members = append(object.Members, jsonschema.Member{Name: key.Value})
			at = len(object.Members) - 1
		}
		object.Members[at].Value = c.convertNode(value, depth+1)
		if c.left <= 0 {
			break
		}
	}
	return object
}

// mergeMapping adds the members of << that the object lacks.
func (c *yamlConverter) mergeMapping(object *jsonschema.Node, seen map[string]int, y *yaml.Node, depth int) {
	for y.Kind == yaml.AliasNode {
		y = y.Alias
	}
	if depth > maxDepth || c.left <= 0 {
		return
	}
	if y.Kind == yaml.SequenceNode {
		for _, item := range y.Content {
			c.mergeMapping(object, seen, item, depth+1)
		}
		return
	}
	for _, m := range c.convertNode(y, depth+1).Members {
		if _, known := seen[m.Name]; !known {
			seen[m.Name] = len(object.Members)
			object.Members = append(object.Members, m)
		}
	}
}

var jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)

// convertScalar keeps the spelling of numbers that JSON has too. Dates are text.
func convertScalar(y *yaml.Node) *jsonschema.Node {
	switch y.ShortTag() {
	case "!!null":
		return nullNode()
	case "!!bool":
		var truth bool
		if y.Decode(&truth) == nil && truth {
			return jsonschema.NewTrue()
		}
		return &jsonschema.Node{Kind: jsonschema.False, Raw: "false"}
	case "!!int", "!!float":
		if jsonNumber.MatchString(y.Value) {
			return &jsonschema.Node{Kind: jsonschema.Number, Raw: y.Value}
		}
		var number float64
		if y.Decode(&number) == nil && !math.IsInf(number, 0) && !math.IsNaN(number) {
			raw, _ := json.Marshal(number) // finite
			return &jsonschema.Node{Kind: jsonschema.Number, Raw: string(raw)}
		}
	}
	return jsonschema.NewString(y.Value)
}

func nullNode() *jsonschema.Node { return &jsonschema.Node{Kind: jsonschema.Null, Raw: "null"} }

func numberNode(n int) *jsonschema.Node {
	return &jsonschema.Node{Kind: jsonschema.Number, Raw: strconv.Itoa(n)}
}
