package toolcall

import (
	"bytes"
	"encoding/json"
	"math/big"

	"go.yaml.in/yaml/v3"
)

// Bounds of a SKILL.md's frontmatter.
const (
	maxFrontmatterBytes  = 64 << 10
	maxFrontmatterValues = 20_000 // also those that aliases repeat
)

// hasFrontmatter reports whether a SKILL.md begins with YAML that means the same as a JSON object.
func hasFrontmatter(document []byte, listed json.RawMessage) bool {
	text, ok := cutFrontmatter(document)
	if !ok || len(text) > maxFrontmatterBytes {
		return false
	}
	var root yaml.Node
	if yaml.Unmarshal(text, &root) != nil || root.Kind != yaml.DocumentNode || len(root.Content) != 1 {
		return false
	}
	dec := json.NewDecoder(bytes.NewReader(listed))
	dec.UseNumber()
	var value any
	if dec.Decode(&value) != nil {
		return false
	}
	c := frontmatterComparison{left: maxFrontmatterValues}
	return c.equalValue(root.Content[0], value)
}

// cutFrontmatter returns the text between the two lines of three hyphens.
func cutFrontmatter(document []byte) (text []byte, ok bool) {
	document = bytes.TrimPrefix(document, []byte("\ufeff"))
	first, rest, found := bytes.Cut(document, []byte("\n"))
	if !found || string(bytes.TrimRight(first, " \t\r")) != "---" {
		return nil, false
	}
	for at := 0; at < len(rest); {
		line, end := rest[at:], len(rest)
		if i := bytes.IndexByte(line, '\n'); i >= 0 {
			line, end = line[:i], at+i+1
		}
		if string(bytes.TrimRight(line, " \t\r")) == "---" {
			return rest[:at], true
		}
		at = end
	}
	return nil, false
}

// frontmatterComparison compares YAML with JSON.
type frontmatterComparison struct{ left int }

func (c *frontmatterComparison) equalValue(node *yaml.Node, value any) bool {
	if c.left--; c.left < 0 || node.Style&yaml.TaggedStyle != 0 { // parsers differ about tags
		return false
	}
	switch node.Kind {
	case yaml.AliasNode:
		return c.equalValue(node.Alias, value)
	case yaml.MappingNode:
		return c.equalObjects(node, value)
	case yaml.SequenceNode:
		list, ok := value.([]any)
		if !ok || len(list) != len(node.Content) {
			return false
		}
		for i, item := range node.Content {
			if !c.equalValue(item, list[i]) {
				return false
			}
		}
		return true
	case yaml.ScalarNode:
		return equalScalar(node, value)
	}
	return false
}

// equalObjects refuses duplicate and merge keys: programs read them differently.
func (c *frontmatterComparison) equalObjects(node *yaml.Node, value any) bool {
	object, ok := value.(map[string]any)
	if !ok || 2*len(object) != len(node.Content) {
		return false
	}
	seen := map[string]bool{}
	for i := 0; i < len(node.Content); i += 2 {
		key := node.Content[i]
		member, listed := object[key.Value]
		if key.Kind != yaml.ScalarNode || key.Style&yaml.TaggedStyle != 0 || key.Tag == "!!merge" || !listed || seen[key.Value] || !c.equalValue(node.Content[i+1], member) {
			return false
		}
		seen[key.Value] = true
	}
	return true
}

// equalScalar compares a scalar: a string of JSON with its text, as some parsers do not know dates and others read them.
func equalScalar(node *yaml.Node, value any) bool {
	switch v := value.(type) {
	case string:
		return node.Tag != "!!null" && node.Value == v
	case bool:
		var flag bool
		return node.Tag == "!!bool" && node.Decode(&flag) == nil && flag == v
	case json.Number:
		return (node.Tag == "!!int" || node.Tag == "!!float") && equalNumber(node, v)
	case nil:
		return node.Tag == "!!null"
	}
	return false
}

func equalNumber(node *yaml.Node, value json.Number) bool {
	var whole int64
	if n, err := value.Int64(); err == nil && node.Decode(&whole) == nil {
		return n == whole
	}
	a, _, err := big.ParseFloat(value.String(), 10, 64, big.ToNearestEven)
	if err != nil {
		return false
	}
	var number float64
	if node.Decode(&number) != nil {
		return false
	}
	plain, _ := a.Float64()
	return plain == number
}
