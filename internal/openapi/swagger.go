package openapi

import (
	"strings"

	"patchbay/internal/jsonschema"
)

// swaggerServers returns the addresses of a Swagger 2 document: schemes, host and basePath. nil: v is an operation.
func swaggerServers(v value) []Server {
	if v.GetText("swagger") == "" && v.GetText("host") == "" && v.GetText("basePath") == "" {
		return nil
	}
	host, path := v.GetText("host"), v.GetText("basePath")
	if host == "" && path == "" {
		return nil
	}
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	if host == "" {
		return []Server{{URL: path}}
	}
	schemes := map[string]bool{}
	for _, item := range v.Get("schemes").List() {
		schemes[item.Text()] = true
	}
	var servers []Server
	for _, scheme := range []string{"https", "http"} {
		if schemes[scheme] || scheme == "https" && !schemes["http"] {
			servers = append(servers, Server{URL: scheme + "://" + host + path})
		}
	}
	return servers
}

// collectionStyles are the styles of collectionFormat, with explode.
var collectionStyles = map[string]struct {
	style   string
	explode bool
}{
	"ssv": {"spaceDelimited", false}, "tsv": {"tabDelimited", false}, "pipes": {"pipeDelimited", false}, "multi": {"form", true},
}

// swaggerSchema returns the schema of a parameter of Swagger 2, which is among its own members.
func swaggerSchema(v value) value {
	schema := jsonschema.NewObject()
	for _, m := range v.Fields() {
		switch m.Name {
		case "name", "in", "required", "description", "collectionFormat", "allowEmptyValue":
		default:
			schema.Members = append(schema.Members, m)
		}
	}
	return value{schema, v.source}
}

// mediaTypes returns the types that an operation of Swagger 2 consumes or produces.
func (d *Document) mediaTypes(operation value, name string) []string {
	list := operation.Get(name)
	if !list.Is(jsonschema.Array) {
		list = d.rootValue().Get(name)
	}
	var types []string
	for _, item := range list.List() {
		if text := item.Text(); text != "" && len(types) < maxMediaTypes {
			types = append(types, text)
		}
	}
	return types
}

// swaggerBody returns the request body of Swagger 2 parameters in the form of OpenAPI 3. No node: there is none.
func (d *Document) swaggerBody(o *Operation, parameters []value) value {
	consumes := d.mediaTypes(o.node, "consumes")
	form, required := jsonschema.NewObject(), []string(nil)
	encodings := jsonschema.NewObject()
	for _, p := range parameters {
		switch p.GetText("in") {
		case "body":
			return swaggerJSONBody(p, consumes)
		case "formData":
			name := p.GetText("name")
			property := swaggerSchema(p).Node
			if text := p.Get("description"); text.Node != nil {
				property.Set("description", text.Node)
			}
			form.Set(name, property)
			if p.IsTrue("required") {
				required = append(required, name)
			}
			setFormEncoding(encodings, name, p)
			if p.GetText("type") == "file" {
				consumes = []string{"multipart/form-data"}
			}
		}
	}
	if len(form.Members) == 0 {
		return value{}
	}
	schema := jsonschema.NewObject().Set("type", jsonschema.NewString("object")).Set("properties", form)
	if len(required) > 0 {
		schema.Set("required", jsonschema.NewStrings(required))
	}
	media := "application/x-www-form-urlencoded"
	if len(consumes) > 0 && isMultipart(consumes[0]) {
		media = consumes[0]
	}
	content := jsonschema.NewObject().Set(media, jsonschema.NewObject().Set("schema", schema).Set("encoding", encodings))
	return value{jsonschema.NewObject().Set("content", content).Set("required", boolNode(len(required) > 0)), parameters[0].source}
}

func setFormEncoding(encodings *jsonschema.Node, name string, p value) {
	if p.GetText("type") != "array" {
		return
	}
	format := collectionStyles[p.GetText("collectionFormat")]
	if format.style == "" {
		format.style = "form"
	}
	encodings.Set(name, jsonschema.NewObject().Set("style", jsonschema.NewString(format.style)).Set("explode", boolNode(format.explode)))
}

func swaggerJSONBody(p value, consumes []string) value {
	if len(consumes) == 0 {
		consumes = []string{"application/json"}
	}
	content := jsonschema.NewObject()
	for _, media := range consumes {
		content.Set(media, jsonschema.NewObject().Set("schema", orNull(p.Get("schema").Node)))
	}
	body := jsonschema.NewObject().Set("content", content).Set("required", boolNode(p.IsTrue("required")))
	if text := p.Get("description"); text.Node != nil {
		body.Set("description", text.Node)
	}
	return value{body, p.source}
}

func boolNode(truth bool) *jsonschema.Node {
	if truth {
		return jsonschema.NewTrue()
	}
	return &jsonschema.Node{Kind: jsonschema.False, Raw: "false"}
}

func orNull(n *jsonschema.Node) *jsonschema.Node {
	if n == nil {
		return nullNode()
	}
	return n
}
