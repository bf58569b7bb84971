package openapitest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Definition is a document as generic values.
type Definition struct {
	root    map[string]any
	swagger bool
}

// ReadDefinition reads a document.
func ReadDefinition(document []byte) (*Definition, error) {
	var root map[string]any
	decoder := json.NewDecoder(bytes.NewReader(document))
	decoder.UseNumber()
	if err := decoder.Decode(&root); err != nil {
		var v any
		if err := yaml.Unmarshal(document, &v); err != nil {
			return nil, err
		}
		text, err := json.Marshal(plainValue(v))
		if err != nil {
			return nil, err
		}
		decoder := json.NewDecoder(bytes.NewReader(text))
		decoder.UseNumber()
		if err := decoder.Decode(&root); err != nil {
			return nil, err
		}
	}
	return &Definition{root: root, swagger: root["swagger"] != nil}, nil
}

// plainValue gives the maps of YAML names that are texts.
func plainValue(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, item := range v {
			v[name] = plainValue(item)
		}
	case map[any]any:
		out := map[string]any{}
		for name, item := range v {
			out[fmt.Sprint(name)] = plainValue(item)
		}
		return out
	case []any:
		for i, item := range v {
			v[i] = plainValue(item)
		}
	}
	return v
}

// findPointer returns the value of a reference within a document.
func findPointer(root any, ref string) any {
	_, pointer, _ := strings.Cut(ref, "#")
	if decoded, err := url.PathUnescape(pointer); err == nil {
		pointer = decoded
	}
	at := root
	for _, name := range strings.Split(pointer, "/")[1:] {
		name = strings.ReplaceAll(strings.ReplaceAll(name, "~1", "/"), "~0", "~")
		switch v := at.(type) {
		case map[string]any:
			at = v[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(v) {
				return nil
			}
			at = v[i]
		default:
			return nil
		}
	}
	return at
}

func (d *Definition) resolveRefs(v any) map[string]any {
	return sampler{root: d.root}.resolveRefs(v)
}

// findOperation returns an operation and its path item.
func (d *Definition) findOperation(method, path string) (operation, item map[string]any) {
	paths, _ := d.root["paths"].(map[string]any)
	item = d.resolveRefs(paths[path])
	operation, _ = item[strings.ToLower(method)].(map[string]any)
	if operation == nil {
		more, _ := item["additionalOperations"].(map[string]any)
		operation, _ = more[method].(map[string]any)
	}
	return operation, item
}

// parameter is a parameter as the document says.
type parameter struct {
	name, in, style string
	explode         bool
	media           string
}

// listParameters returns the parameters of an operation, those of the path included.
func (d *Definition) listParameters(operation, item map[string]any) map[string]parameter {
	all := map[string]parameter{}
	for _, list := range []any{item["parameters"], operation["parameters"]} {
		parameters, _ := list.([]any)
		for _, v := range parameters {
			p := d.resolveRefs(v)
			name, _ := p["name"].(string)
			in, _ := p["in"].(string)
			all[in+" "+name] = d.readDefinition(p, name, in)
		}
	}
	return all
}

func (d *Definition) readDefinition(p map[string]any, name, in string) parameter {
	out := parameter{name: name, in: in, style: map[string]string{"path": "simple", "header": "simple", "query": "form", "cookie": "form", "formData": "form"}[in]}
	if d.swagger {
		switch p["collectionFormat"] {
		case "ssv":
			out.style = "spaceDelimited"
		case "tsv":
			out.style = "tabDelimited"
		case "pipes":
			out.style = "pipeDelimited"
		case "multi":
			out.explode = in == "query" || in == "formData"
		}
		if in == "path" || in == "header" {
			out.style = "simple"
		}
		return out
	}
	if style, ok := p["style"].(string); ok {
		out.style = style
	}
	out.explode = out.style == "form" || out.style == "deepObject" || out.style == "cookie"
	if explode, ok := p["explode"].(bool); ok {
		out.explode = explode
	}
	if content, ok := p["content"].(map[string]any); ok {
		for media := range content {
			out.media = media
		}
	}
	return out
}
