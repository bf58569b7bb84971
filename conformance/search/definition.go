package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"patchbay/internal/toolsearch/searchset"
)

// Bounds of what is kept, so that the set stays small.
const (
	maxDescription          = 2 << 10 // bytes
	maxParameterDescription = 240     // bytes
	maxSchemaDepth          = 3       // levels of objects
	maxEnum                 = 24
)

// readDefinition shortens a definition of MCP: the description is cut, and the schema keeps names, types, enums and descriptions.
func readDefinition(server string, raw json.RawMessage, tags []string) (searchset.Definition, error) {
	var d searchset.Definition
	if err := json.Unmarshal(raw, &d); err != nil {
		return d, fmt.Errorf("%s: %w", server, err)
	}
	decoder := json.NewDecoder(bytes.NewReader(d.InputSchema))
	decoder.UseNumber()
	var root any
	if err := decoder.Decode(&root); err != nil {
		return d, fmt.Errorf("%s: %s: %w", server, d.Name, err)
	}
	d.Server, d.Tags = server, tags
	d.Description = cutText(d.Description, maxDescription)
	short := shortenSchema(root, root, 0)
	if short == nil {
		short = map[string]any{"type": "object"}
	}
	var err error
	d.InputSchema, err = json.Marshal(short)
	return d, err
}

// cutText cuts at a space, to max bytes.
func cutText(text string, max int) string {
	text = strings.ToValidUTF8(text, "")
	if len(text) <= max {
		return text
	}
	text = text[:max-len("…")]
	for !utf8.ValidString(text) {
		text = text[:len(text)-1]
	}
	if at := strings.LastIndexAny(text, " \n"); at > max/2 {
		text = text[:at]
	}
	return text + "…"
}

func shortenSchema(node, root any, depth int) map[string]any {
	object, ok := node.(map[string]any)
	if !ok || depth > maxSchemaDepth {
		return nil
	}
	if at, ok := object["$ref"].(string); ok {
		object = mergeReference(object, at, root)
	}
	short := map[string]any{}
	for _, key := range []string{"type", "required"} {
		if value, there := object[key]; there && !(key == "required" && depth > 0) {
			short[key] = value
		}
	}
	if text, ok := object["description"].(string); ok && text != "" {
		short["description"] = cutText(text, maxParameterDescription)
	}
	if values, ok := object["enum"].([]any); ok {
		short["enum"] = values[:min(len(values), maxEnum)]
	}
	if properties, ok := object["properties"].(map[string]any); ok {
		kept := map[string]any{}
		for name, property := range properties {
			if value := shortenSchema(property, root, depth+1); value != nil {
				kept[name] = value
			} else if depth < maxSchemaDepth {
				kept[name] = map[string]any{}
			}
		}
		if len(kept) > 0 {
			short["properties"] = kept
		}
	}
	if items := shortenSchema(object["items"], root, depth+1); len(items) > 0 {
		short["items"] = items
	}
	for _, key := range []string{"anyOf", "oneOf", "allOf"} {
		all, _ := object[key].([]any)
		kept := []any{}
		for _, one := range all {
			if value := shortenSchema(one, root, depth+1); len(value) > 0 {
				kept = append(kept, value)
			}
		}
		if len(kept) > 0 {
			short[key] = kept
		}
	}
	return short
}

// mergeReference returns what a reference within the schema leads to, with the members beside it.
func mergeReference(object map[string]any, reference string, root any) map[string]any {
	target := root
	for _, part := range strings.Split(strings.TrimPrefix(reference, "#"), "/")[1:] {
		parent, _ := target.(map[string]any)
		target = parent[strings.NewReplacer("~1", "/", "~0", "~").Replace(part)]
	}
	found, _ := target.(map[string]any)
	merged := map[string]any{}
	for key, value := range found {
		merged[key] = value
	}
	for key, value := range object {
		if key != "$ref" {
			merged[key] = value
		}
	}
	return merged
}
