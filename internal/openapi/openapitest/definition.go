package openapitest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"mime"
	"net/url"
	"slices"
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
	operation = d.resolveRefs(item[strings.ToLower(method)])
	if operation == nil {
		more, _ := item["additionalOperations"].(map[string]any)
		operation, _ = more[method].(map[string]any)
	}
	return operation, item
}

// countOperations counts the members of path items that are objects, but for parameters, servers and extensions.
func (d *Definition) countOperations() (n int) {
	paths, _ := d.root["paths"].(map[string]any)
	for path := range paths {
		if !strings.HasPrefix(path, "/") {
			continue
		}
		item := d.resolveRefs(paths[path])
		more, _ := item["additionalOperations"].(map[string]any)
		n += len(more)
		for name, member := range item {
			if _, is := member.(map[string]any); is && name != "additionalOperations" && !strings.HasPrefix(name, "x-") {
				n++
			}
		}
	}
	return n
}

// parameter is a parameter as the document says.
type parameter struct {
	name, in, style string
	explode         bool
	reserved        bool
	required        bool
	media           string // of a value that is serialised as content; then it has no style
	schema          any
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

// placeStyles are the styles of each place, its default first. A style that a place does not have counts as the default.
var placeStyles = map[string][]string{
	"path": {"simple", "label", "matrix"}, "header": {"simple"}, "cookie": {"form", "cookie"}, "formData": {"form"},
	"query": {"form", "spaceDelimited", "pipeDelimited", "tabDelimited", "deepObject"}, "querystring": {""}, "body": {""},
}

func (d *Definition) readDefinition(p map[string]any, name, in string) parameter {
	out := parameter{name: name, in: in, required: p["required"] == true || in == "path"}
	if len(placeStyles[in]) > 0 {
		out.style = placeStyles[in][0]
	}
	if d.swagger {
		return readSwaggerDefinition(p, out)
	}
	out.schema, out.reserved = p["schema"], p["allowReserved"] == true
	if content, ok := p["content"].(map[string]any); ok {
		for name, v := range content {
			media, _, _ := mime.ParseMediaType(name)
			return parameter{name: out.name, in: in, required: out.required, media: media, schema: d.resolveRefs(v)["schema"]}
		}
	}
	if style, ok := p["style"].(string); ok && slices.Contains(placeStyles[in], style) {
		out.style = style
	}
	out.explode = out.style == "form" || out.style == "cookie"
	if explode, ok := p["explode"].(bool); ok {
		out.explode = explode
	}
	out.explode = out.explode || out.style == "deepObject"
	return out
}

// readSwaggerDefinition reads a parameter of Swagger 2: its schema is the parameter itself.
func readSwaggerDefinition(p map[string]any, out parameter) parameter {
	out.schema = p
	if out.in == "body" {
		out.schema = p["schema"]
	}
	if out.in != "query" && out.in != "formData" {
		return out
	}
	switch p["collectionFormat"] {
	case "ssv":
		out.style = "spaceDelimited"
	case "tsv":
		out.style = "tabDelimited"
	case "pipes":
		out.style = "pipeDelimited"
	case "multi":
		out.explode = true
	}
	return out
}

// writeMoved returns the document with another server, which has all operations.
func (d *Definition) writeMoved(address string) string {
	root := maps.Clone(d.root)
	if d.swagger {
		root["host"], root["schemes"] = strings.TrimPrefix(address, "http://"), []string{"http"}
		delete(root, "basePath")
		return encodeJSON(root)
	}
	root["servers"] = []any{map[string]any{"url": address}}
	paths, _ := root["paths"].(map[string]any)
	for _, v := range paths {
		item, _ := v.(map[string]any)
		delete(item, "servers")
		for _, v := range item {
			if operation, ok := v.(map[string]any); ok {
				delete(operation, "servers")
			}
		}
	}
	return encodeJSON(root)
}
