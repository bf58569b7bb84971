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

// Servers of 2026-07-28 may want a tool's parameters mirrored into headers, so that whoever stands between can route by them:
//
//	{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}   →   Mcp-Param-Region: eu
//
// A tool whose annotations break the rules of that revision must not be called over HTTP.
const annotation = "x-mcp-header"

// mirrors tells whether parameters are mirrored in this conversation.
func (c *conversation) mirrors() bool { return !c.shared && !c.era.asks() }

// HeaderDefect tells why a tool must not be offered to clients of that revision over HTTP, a sentence; empty: it may be.
func HeaderDefect(tool []byte) string { return headerDefect(tool) }

// headerDefect is why a tool's annotations make it unusable, a sentence; empty: they do not.
func headerDefect(tool []byte) string {
	if !bytes.Contains(tool, []byte(annotation)) {
		return ""
	}
	_, defect := mirrored(members(tool).get("inputSchema"))
	return defect
}

// paramHeaders are the headers that a call with these arguments carries.
func paramHeaders(schema, arguments json.RawMessage) http.Header {
	if !bytes.Contains(schema, []byte(annotation)) {
		return nil
	}
	all, defect := mirrored(schema)
	given, ok := decode(arguments)
	if defect != "" || !ok {
		return nil
	}
	h := http.Header{}
	for _, p := range all {
		if value, ok := p.value(given); ok {
			h["Mcp-Param-"+p.name] = []string{headerValue(value)}
		}
	}
	return h
}

// decode reads JSON and keeps its numbers as they are written.
func decode(raw []byte) (value any, ok bool) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return value, d.Decode(&value) == nil
}

// param is a parameter that is mirrored.
type param struct {
	name string   // of the header, behind Mcp-Param-
	path []string // of property names
}

// value is what the arguments hold for it, as text; ok is false where there is nothing that could be mirrored.
func (p param) value(arguments any) (value string, ok bool) {
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
		return integer(v), true
	}
	return "", false
}

// integer writes 42.0 and 4.2e1 as 42. Anything else stays as it is.
func integer(n json.Number) string {
	if len(n) > 40 { // an exponent must not cost memory
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

// mirrored reads the annotations of a schema.
func mirrored(schema json.RawMessage) (all []param, defect string) {
	root, ok := decode(schema)
	if !ok {
		return nil, ""
	}
	w := &annotations{names: map[string]bool{}}
	w.schema(root, nil, true)
	return w.all, w.defect
}

// annotations are those of one schema.
type annotations struct {
	all    []param
	names  map[string]bool
	defect string // of the first that is wrong
}

// schema walks a schema. path are the properties that lead to it, where they alone do.
func (w *annotations) schema(node any, path []string, reached bool) {
	object, ok := node.(map[string]any)
	if !ok {
		return
	}
	if name, ok := object[annotation]; ok {
		w.annotated(object, name, path, reached)
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		w.keyword(key, object[key], path, reached)
	}
}

// keyword walks what stands under one keyword of a schema: schemas by name, data, or schemas.
func (w *annotations) keyword(key string, value any, path []string, reached bool) {
	switch key {
	case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas":
		named, _ := value.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(named)) {
			w.schema(named[name], append(slices.Clip(path), name), reached && key == "properties")
		}
	case "enum", "const", "default", "examples":
	default:
		if list, ok := value.([]any); ok {
			for _, one := range list {
				w.schema(one, nil, false)
			}
			return
		}
		w.schema(value, nil, false)
	}
}

// annotated takes one annotation, or says what is wrong with it.
func (w *annotations) annotated(schema map[string]any, value any, path []string, reached bool) {
	name, isText := value.(string)
	wrong := ""
	switch lower := strings.ToLower(name); {
	case !isText:
		wrong = "is not a string"
	case name == "":
		wrong = "is empty"
	case strings.IndexFunc(name, notToken) >= 0:
		wrong = "is not the name of a header"
	case w.names[lower]:
		wrong = "stands on two parameters"
	case !reached || len(path) == 0:
		wrong = "stands where no properties lead to it"
	case !primitive(schema["type"]):
		wrong = "stands on a parameter that is no string, integer or boolean"
	default:
		w.names[lower] = true
		w.all = append(w.all, param{name: name, path: path})
	}
	if wrong != "" && w.defect == "" {
		w.defect = "The tool's x-mcp-header " + wrong + "."
	}
}

// notToken tells which characters a header's name cannot hold (RFC 9110 §5.6.2).
func notToken(c rune) bool {
	return (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && !strings.ContainsRune("!#$%&'*+-.^_`|~", c)
}

// primitive tells whether a schema's type is one that can be mirrored, or such a one or null.
func primitive(kind any) bool {
	if list, ok := kind.([]any); ok {
		rest := slices.DeleteFunc(slices.Clone(list), func(k any) bool { return k == "null" })
		return len(rest) == 1 && primitive(rest[0])
	}
	return kind == "string" || kind == "integer" || kind == "boolean"
}
