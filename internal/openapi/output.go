package openapi

import (
	"slices"
	"strings"

	"patchbay/internal/jsonschema"
)

// writeOutput returns the output schema of the JSON answers with a 2xx status, and sets what the binding says of answers. nil: there is none.
//
// Clients refuse a whole result that does not match, and few APIs answer as their document says. So the schema names members and types,
// accepts null everywhere, and requires nothing.
func (d *Document) writeOutput(o *Operation, b *Binding) *jsonschema.Node {
	schemas, accept := d.listAnswers(o)
	b.Accept = accept
	if len(schemas) == 0 {
		return nil
	}
	w := d.newSchemaWriter(true)
	if !slices.ContainsFunc(schemas, func(v value) bool { return !w.isObjectSchema(v, 0) }) {
		b.Result = ResultObject
		return w.writeObjectRoot(schemas)
	}
	b.Result = ResultWrapped
	result := jsonschema.NewObject()
	if len(schemas) == 1 {
		result = w.writeSchema(schemas[0], 2)
	}
	root := jsonschema.NewObject().Set("type", jsonschema.NewString("object")).Set("properties", jsonschema.NewObject().Set("result", result))
	return w.addDefs(root)
}

// writeObjectRoot writes answers that are objects. MCP requires their type at the top.
func (w *schemaWriter) writeObjectRoot(schemas []value) *jsonschema.Node {
	root := jsonschema.NewObject().Set("type", jsonschema.NewString("object"))
	if len(schemas) > 1 {
		list := jsonschema.NewArray()
		for _, schema := range schemas {
			list.Items = append(list.Items, w.writeSchema(schema, 2))
		}
		return w.addDefs(root.Set("anyOf", list))
	}
	target, _ := w.document.followRef(schemas[0])
	for _, m := range w.writeSchema(target, 0).Members {
		root.Set(m.Name, m.Value)
	}
	return w.addDefs(root.Set("type", jsonschema.NewString("object")))
}

func (w *schemaWriter) addDefs(root *jsonschema.Node) *jsonschema.Node {
	if defs := w.writeDefs(); defs != nil {
		root.Set("$defs", defs)
	}
	return root
}

// listAnswers returns the schemas of the JSON answers with a 2xx status, and the header Accept.
func (d *Document) listAnswers(o *Operation) (schemas []value, accept string) {
	seen := map[*jsonschema.Node]bool{}
	var other string
	for _, m := range o.node.Get("responses").Fields() {
		if !strings.HasPrefix(m.Name, "2") {
			continue
		}
		response, _ := d.followRef(value{m.Value, o.node.source})
		for _, c := range d.listContent(o, response) {
			target, _ := d.followRef(c.schema)
			switch {
			case !IsJSON(c.media) && c.media != "*/*" || isFile(target):
				if other == "" {
					other = c.media
				}
			case accept == "" || accept == c.media:
				accept = c.media
				if target.Is(jsonschema.Object) && len(schemas) < 8 && !seen[target.Node] {
					seen[target.Node] = true
					schemas = append(schemas, c.schema)
				}
			}
		}
	}
	if accept == "" {
		accept = other
	}
	return schemas, accept
}

// answerContent is a media type with its schema.
type answerContent struct {
	media  string
	schema value
}

// listContent returns the content of a response, application/json first.
func (d *Document) listContent(o *Operation, response value) (all []answerContent) {
	if d.dialect == swagger2 {
		types := d.mediaTypes(o.node, "produces")
		if len(types) == 0 {
			types = []string{"application/json"}
		}
		for _, media := range types {
			all = append(all, answerContent{mediaType(media), response.Get("schema")})
		}
	}
	for _, m := range response.Get("content").Fields() {
		content, _ := d.followRef(value{m.Value, response.source})
		all = append(all, answerContent{mediaType(m.Name), content.Get("schema")})
	}
	all = slices.DeleteFunc(all, func(c answerContent) bool { return c.media == "" })
	slices.SortStableFunc(all, func(a, b answerContent) int { return rankMedia(a.media) - rankMedia(b.media) })
	return all[:min(len(all), maxMediaTypes)]
}

// isObjectSchema reports whether a schema accepts objects alone, beside null.
func (w *schemaWriter) isObjectSchema(v value, level int) bool {
	v, _ = w.document.followRef(v)
	w.work++
	if !v.Is(jsonschema.Object) || level > 8 || w.work > maxWork/100 {
		return false
	}
	if types := readTypes(v); len(types) > 0 {
		return !slices.ContainsFunc(types, func(t string) bool { return t != "object" && t != "null" })
	}
	if v.Get("properties").Is(jsonschema.Object) {
		return true
	}
	for _, name := range []string{"oneOf", "anyOf"} {
		if branches := v.Get(name).Values(); len(branches) > 0 {
			return !slices.ContainsFunc(branches, func(b value) bool { return !w.isObjectSchema(b, level+1) })
		}
	}
	return slices.ContainsFunc(v.Get("allOf").Values(), func(b value) bool { return w.isObjectSchema(b, level+1) })
}
