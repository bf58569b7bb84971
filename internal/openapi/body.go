package openapi

import (
	"mime"
	"slices"
	"strings"

	"patchbay/internal/jsonschema"
)

const (
	maxMediaTypes = 50
	maxFields     = 200 // of a body with an argument for each
)

// mediaType returns a media type in lower case without parameters; empty: it is none.
func mediaType(text string) string {
	media, _, err := mime.ParseMediaType(text)
	if err != nil && media == "" {
		media, _, _ = strings.Cut(strings.ToLower(text), ";")
		media = strings.TrimSpace(media)
	}
	kind, sub, ok := strings.Cut(media, "/")
	if !ok || !isToken(kind) || !isToken(sub) {
		return ""
	}
	return media
}

// IsJSON reports whether a media type is JSON (RFC 6839 section 3.1).
func IsJSON(media string) bool {
	return media == "application/json" || media == "text/json" || media == "application/x-json" || strings.HasSuffix(media, "+json")
}

func isMultipart(media string) bool { return strings.HasPrefix(media, "multipart/") }

const mediaForm = "application/x-www-form-urlencoded"

// IsText reports whether content of a media type is text.
func IsText(media string) bool {
	switch media {
	case "application/xml", "application/javascript", "application/yaml", "application/x-yaml", "application/graphql", "application/x-ndjson",
		"application/jsonl", "application/sql", "application/toml", mediaForm:
		return true
	}
	return strings.HasPrefix(media, "text/") || strings.HasSuffix(media, "+xml") || strings.HasSuffix(media, "+yaml")
}

// rankMedia orders the media types of a body: lower is better.
func rankMedia(media string) int {
	switch {
	case media == "application/json":
		return 0
	case IsJSON(media):
		return 1
	case media == mediaForm:
		return 2
	case isMultipart(media):
		return 3
	case media == "*/*" || media == "application/*":
		return 4
	case IsText(media):
		return 5
	}
	return 6
}

// addBody adds the request body.
func (w *inputWriter) addBody(parameters []value) error {
	body := w.operation.node.Get("requestBody")
	if w.document.dialect == swagger2 {
		body = w.document.swaggerBody(w.operation, parameters)
	}
	body, ref := w.document.followRef(body)
	if ref != "" && body.Node == nil {
		return errBody
	}
	var media string
	var content value
	for _, m := range body.Get("content").Fields() {
		name := mediaType(m.Name)
		if name != "" && (media == "" || rankMedia(name) < rankMedia(media)) {
			media, content = name, value{m.Value, body.source}
		}
	}
	if media == "" {
		return nil
	}
	content, _ = w.document.followRef(content)
	b := &Body{Media: media, Required: body.IsTrue("required")}
	w.binding.Body = b
	if b.isUntyped() && !isFile(content.Get("schema")) && content.Get("schema").Is(jsonschema.Object) {
		b.Media = "application/json"
	}
	switch {
	case IsJSON(b.Media), b.Media == mediaForm, isMultipart(b.Media):
		w.addObjectBody(body, content)
	default:
		w.addPlainBody(body)
	}
	return nil
}

func (b *Body) isUntyped() bool { return b.Media == "*/*" || b.Media == "application/*" }

// addPlainBody adds a body that is text or a file.
func (w *inputWriter) addPlainBody(body value) {
	b := w.binding.Body
	b.Argument = w.names.Take("body", "request")
	if IsText(b.Media) {
		schema := jsonschema.NewObject().Set("type", jsonschema.NewString("string"))
		describeProperty(schema, body)
		w.addProperty(b.Argument, schema, b.Required)
		return
	}
	b.File = true
	schema := fileSchema()
	describeProperty(schema, body)
	w.addProperty(b.Argument, schema, b.Required)
}

// fileSchema is the schema of a file: its bytes in Base64.
func fileSchema() *jsonschema.Node {
	text := func(description string) *jsonschema.Node {
		return jsonschema.NewObject().Set("type", jsonschema.NewString("string")).Set("description", jsonschema.NewString(description))
	}
	properties := jsonschema.NewObject().Set("data", text("Content, in Base64.").Set("contentEncoding", jsonschema.NewString("base64"))).
		Set("name", text("Name of the file.")).Set("media_type", text("Media type of the content."))
	return jsonschema.NewObject().Set("type", jsonschema.NewString("object")).Set("properties", properties).
		Set("required", jsonschema.NewStrings([]string{"data"})).Set("additionalProperties", boolNode(false))
}

// isFile reports whether a schema is a file: type file of Swagger 2, format binary of 3.0, content of a media type in 3.1.
func isFile(v value) bool {
	if v.GetText("type") == "file" {
		return true
	}
	types := readTypes(v)
	if len(types) > 1 || len(types) == 1 && types[0] != "string" {
		return false
	}
	if v.GetText("format") == "binary" {
		return true
	}
	media := v.GetText("contentMediaType")
	return media != "" && v.Get("contentEncoding").Node == nil && !IsJSON(media) && !IsText(media)
}

// addObjectBody adds a body of members. Where its schema says all of them, they are arguments of their own.
func (w *inputWriter) addObjectBody(body, content value) {
	b, schema := w.binding.Body, content.Get("schema")
	if content.Get("itemSchema").Node != nil && schema.Node == nil {
		schema = jsonArrayOf(content)
	}
	fields, ok := w.document.listFields(schema)
	if ok && len(fields) == 0 && w.isClosed(schema) { // nothing can be sent
		if !b.Required {
			w.binding.Body = nil
		}
		return
	}
	if !ok || len(fields) == 0 || len(fields) > maxFields {
		b.Argument = w.names.Take("body", "request")
		property := w.schemas.writeSchema(schema, 2)
		if property.Get("description") == nil {
			describeProperty(property, body)
		}
		w.addProperty(b.Argument, property, b.Required)
		return
	}
	for _, f := range fields {
		if w.schemas.isLeftOut(f.schema) || f.schema.Is(jsonschema.False) {
			continue
		}
		field := Field{Name: f.name, Argument: w.names.Take(f.name, "body")}
		property := w.writeField(&field, f.schema, content)
		w.addProperty(field.Argument, property, f.required && b.Required)
		b.Fields = append(b.Fields, field)
	}
	slices.SortStableFunc(b.Fields, func(x, y Field) int { return strings.Compare(x.Name, y.Name) })
	if len(b.Fields) == 0 {
		b.Argument = w.names.Take("body", "request")
		w.addProperty(b.Argument, jsonschema.NewObject(), b.Required)
	}
}

// isClosed reports whether an object can have no members but those that its schema names.
func (w *inputWriter) isClosed(schema value) bool {
	schema, _ = w.document.followRef(schema)
	return schema.Get("additionalProperties").Is(jsonschema.False)
}

// jsonArrayOf returns the schema of a sequence of items (OpenAPI 3.2).
func jsonArrayOf(content value) value {
	list := jsonschema.NewObject().Set("type", jsonschema.NewString("array")).Set("items", content.Get("itemSchema").Node)
	return value{list, content.source}
}

// writeField writes the schema of a field, and sets how a form writes it.
func (w *inputWriter) writeField(f *Field, schema, content value) *jsonschema.Node {
	if IsJSON(w.binding.Body.Media) {
		return w.schemas.writeSchema(schema, 2)
	}
	encoding := content.Get("encoding").Find(f.Name)
	if first, _, _ := strings.Cut(encoding.GetText("contentType"), ","); first != "" {
		f.Media = mediaType(first)
	}
	if style := encoding.GetText("style"); slices.Contains(styles["query"], style) {
		f.Style, f.Explode = style, style == "form"
	}
	if explode := encoding.Get("explode"); explode.Is(jsonschema.True) || explode.Is(jsonschema.False) {
		f.Explode = explode.Is(jsonschema.True)
		if f.Style == "" {
			f.Style = "form"
		}
	}
	if f.Style == "deepObject" {
		f.Explode = true
	}
	f.Reserved = encoding.IsTrue("allowReserved")
	if isMultipart(w.binding.Body.Media) {
		return w.writePart(f, schema)
	}
	return w.schemas.writeSchema(schema, 2)
}

// writePart writes the schema of a part: of a file, of several, or of a value.
func (w *inputWriter) writePart(f *Field, schema value) *jsonschema.Node {
	target, _ := w.document.followRef(schema)
	items, _ := w.document.followRef(target.Get("items"))
	isBinary := f.Media != "" && !IsJSON(f.Media) && !IsText(f.Media) && len(readTypes(target)) == 0
	switch {
	case isFile(target), isBinary:
		f.File = true
		file := fileSchema()
		describeProperty(file, target)
		return file
	case slices.Contains(readTypes(target), "array") && isFile(items):
		f.File = true
		list := jsonschema.NewObject().Set("type", jsonschema.NewString("array")).Set("items", fileSchema())
		describeProperty(list, target)
		return list
	}
	return w.schemas.writeSchema(schema, 2)
}
