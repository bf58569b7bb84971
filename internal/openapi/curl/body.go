package curl

import (
	"net/url"
	"slices"
	"strings"

	"patchbay/internal/jsonschema"
	"patchbay/internal/openapi"
)

// setBody sets the body with placeholders.
func (b *endpointBuilder) setBody() {
	o, e := b.options, &b.command.Endpoint
	media := b.takeMedia()
	switch {
	case len(o.form) > 0:
		b.setForm()
	case o.upload:
		e.Media, e.Body, e.Files = "application/octet-stream", "{file}", []string{"file"}
		if media != "" {
			e.Media = media
		}
	case len(o.data) > 0:
		separator := "&"
		if o.json {
			separator = ""
		}
		b.setData(media, strings.Join(o.data, separator))
	}
}

// takeMedia takes Content-Type out of the headers.
func (b *endpointBuilder) takeMedia() (media string) {
	b.options.headers = slices.DeleteFunc(b.options.headers, func(h openapi.Header) bool {
		if strings.EqualFold(h.Name, "Content-Type") {
			media = h.Value
			return true
		}
		return false
	})
	media, _, _ = strings.Cut(strings.ToLower(media), ";")
	return strings.TrimSpace(media)
}

// setData sets a body of -d. A JSON object is one even if its type says otherwise: curl's default is a form.
func (b *endpointBuilder) setData(media, text string) {
	e := &b.command.Endpoint
	root, whole := jsonschema.Decode([]byte(text), jsonschema.Limits{Values: 5000, Depth: 50})
	isJSON := openapi.IsJSON(media) || b.options.json || media == "" && root.Is(jsonschema.Object)
	switch {
	case isJSON && root.Is(jsonschema.Object) && whole:
		if e.Media = media; !openapi.IsJSON(media) {
			e.Media = "application/json"
		}
		template := jsonschema.NewObject()
		for _, m := range root.Members {
			template.Set(m.Name, jsonschema.NewString("{"+b.addArgument(m.Name, m.Value)+"}"))
		}
		e.Body = string(template.AppendTo(nil))
	case isJSON && root != nil && whole:
		e.Media, e.Body = "application/json", `"{`+b.addArgument("body", root)+`}"`
	case media == "" || media == "application/x-www-form-urlencoded":
		e.Media = "application/x-www-form-urlencoded"
		e.Body = string(b.formTemplate(text).AppendTo(nil))
	default:
		e.Media, e.Body = media, "{"+b.addProperty("body", textSchema())+"}"
	}
}

// formTemplate returns the fields of a form with placeholders. A repeated one is a list.
func (b *endpointBuilder) formTemplate(text string) *jsonschema.Node {
	values := jsonschema.NewObject()
	for pair := range strings.SplitSeq(text, "&") {
		name, value, _ := strings.Cut(pair, "=")
		name, nameErr := url.QueryUnescape(name)
		value, valueErr := url.QueryUnescape(value)
		if nameErr != nil || valueErr != nil || name == "" || len(values.Members) > 200 {
			continue
		}
		item := jsonschema.NewString(value)
		switch before := values.Get(name); {
		case before == nil:
			values.Set(name, item)
		case before.Is(jsonschema.Array):
			before.Items = append(before.Items, item)
		default:
			values.Set(name, jsonschema.NewArray(before, item))
		}
	}
	template := jsonschema.NewObject()
	for _, m := range values.Members {
		template.Set(m.Name, jsonschema.NewString("{"+b.addArgument(m.Name, m.Value)+"}"))
	}
	return template
}

// setForm sets a multipart body of -F.
func (b *endpointBuilder) setForm() {
	e := &b.command.Endpoint
	e.Media = "multipart/form-data"
	template := jsonschema.NewObject()
	for _, f := range b.options.form {
		if template.Get(f.name) != nil {
			continue
		}
		name := b.addArgument(f.name, jsonschema.NewString(f.value))
		if f.file {
			b.properties.Drop(name)
			e.Files = append(e.Files, name)
		}
		template.Set(f.name, jsonschema.NewString("{"+name+"}"))
	}
	e.Body = string(template.AppendTo(nil))
}
