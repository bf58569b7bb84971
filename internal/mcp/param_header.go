package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"net/http"
	"slices"
	"strings"
)

// headerAnnotation marks a tool parameter that is mirrored into a header, by which proxies can route
// (2026-07-28):
//
//	{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}   →   Mcp-Param-Region: eu
//
// A tool with invalid annotations must not be called over HTTP.
const headerAnnotation = "x-mcp-header"

// mirrorsParams reports whether calls mirror parameters into headers.
func (c *connection) mirrorsParams() bool { return !c.hasSharedStream && !c.era.hasServerRequests() }

// HeaderDefect returns why a tool must not be offered to 2026-07-28 clients over HTTP, as a sentence; empty: it
// may be.
func HeaderDefect(tool []byte) string { return findHeaderDefect(tool) }

// findHeaderDefect returns what is wrong with a tool's annotations, as a sentence; empty: nothing.
func findHeaderDefect(tool []byte) string {
	if !bytes.Contains(tool, []byte(headerAnnotation)) {
		return ""
	}
	_, defect := readMirroredParams(readObject(tool).get("inputSchema"))
	return defect
}

func paramHeaders(schema, arguments json.RawMessage) http.Header {
	if !bytes.Contains(schema, []byte(headerAnnotation)) {
		return nil
	}
	all, defect := readMirroredParams(schema)
	given, ok := decodeJSON(arguments)
	if defect != "" || !ok {
		return nil
	}
	h := http.Header{}
	for _, p := range all {
		if value, ok := p.argumentText(given); ok {
			h["Mcp-Param-"+p.name] = []string{encodeHeaderValue(value)}
		}
	}
	return h
}

// decodeJSON decodes JSON and keeps numbers as written.
func decodeJSON(raw []byte) (value any, ok bool) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return value, d.Decode(&value) == nil
}

type mirroredParam struct {
	name string   // header name without Mcp-Param-
	path []string // property names
}

// argumentText returns the argument as text; ok is false if there is none that can be mirrored.
func (p mirroredParam) argumentText(arguments any) (argumentText string, ok bool) {
	for _, name := range p.path {
		object, _ := arguments.(map[string]any)
		arguments = object[name]
	}
	switch v := arguments.(type) {
	case string:
		return v, true
	case bool:
		return fmt.Sprint(v), true
	case json.Number:
		return normalizeInteger(v), true
	}
	return "", false
}

// normalizeInteger writes 42.0 and 4.2e1 as 42. Other numbers are unchanged.
func normalizeInteger(n json.Number) string {
	if len(n) > 40 { // a large exponent must not allocate
		return string(n)
	}
	if e := strings.IndexAny(string(n), "eE"); e >= 0 && len(n)-e > 4 {
		return string(n)
	}
	if r, ok := new(big.Rat).SetString(string(n)); ok && r.IsInt() {
		return r.Num().String()
	}
	return string(n)
}

// readMirroredParams reads the annotations of a schema. defect is set if one is invalid.
func readMirroredParams(schema json.RawMessage) (all []mirroredParam, defect string) {
	root, ok := decodeJSON(schema)
	if !ok {
		return nil, ""
	}
	w := &annotationReader{names: map[string]bool{}}
	w.readSchema(root, nil, true)
	return w.params, w.defect
}

type annotationReader struct {
	params []mirroredParam
	names  map[string]bool
	defect string // of the first invalid annotation
}

// readSchema walks a schema. path holds the property names that lead to it. reached: no other keyword does.
func (w *annotationReader) readSchema(node any, path []string, reached bool) {
	object, ok := node.(map[string]any)
	if !ok {
		return
	}
	if name, ok := object[headerAnnotation]; ok {
		w.addAnnotation(object, name, path, reached)
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		w.readKeyword(key, object[key], path, reached)
	}
}

// readKeyword walks the value of one keyword: schemas by name, data, or schemas.
func (w *annotationReader) readKeyword(key string, value any, path []string, reached bool) {
	switch key {
	case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas":
		named, _ := value.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(named)) {
			w.readSchema(named[name], append(slices.Clip(path), name), reached && key == "properties")
		}
	case "enum", "const", "default", "examples":
	default:
		if list, ok := value.([]any); ok {
			for _, one := range list {
				w.readSchema(one, nil, false)
			}
			return
		}
		w.readSchema(value, nil, false)
	}
}

func (w *annotationReader) addAnnotation(schema map[string]any, value any, path []string, reached bool) {
	name, isText := value.(string)
	defect := ""
	switch lower := strings.ToLower(name); {
	case !isText:
		defect = "is not a string"
	case name == "":
		defect = "is empty"
	case strings.IndexFunc(name, isNotToken) >= 0:
		defect = "is not a header name"
	case w.names[lower]:
		defect = "is used by two parameters"
	case !reached || len(path) == 0:
		defect = "isn't reachable through properties"
	case !isPrimitive(schema["type"]):
		defect = "needs a string, integer or boolean parameter"
	default:
		w.names[lower] = true
		w.params = append(w.params, mirroredParam{name: name, path: path})
	}
	if defect != "" && w.defect == "" {
		w.defect = "The tool's x-mcp-header " + defect + "."
	}
}

// isNotToken reports whether a header name cannot contain c (RFC 9110 section 5.6.2).
func isNotToken(c rune) bool {
	return (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && !strings.ContainsRune("!#$%&'*+-.^_`|~", c)
}

// isPrimitive reports whether a schema's type can be mirrored, alone or with null.
func isPrimitive(kind any) bool {
	if list, ok := kind.([]any); ok {
		rest := slices.DeleteFunc(slices.Clone(list), func(k any) bool { return k == "null" })
		return len(rest) == 1 && isPrimitive(rest[0])
	}
	return kind == "string" || kind == "integer" || kind == "boolean"
}
