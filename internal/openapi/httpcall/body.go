package httpcall

import (
	"encoding/base64"
	"html"
	"strings"

	"patchbay/internal/fault"
	"patchbay/internal/jsonschema"
	"patchbay/internal/openapi"
)

// addBody sets body and Content-Type.
func (r *Request) addBody(b *openapi.Body, args arguments) error {
	if b == nil {
		return nil
	}
	r.Header.Set("Content-Type", b.Media)
	isForm := b.Media == mediaForm || strings.HasPrefix(b.Media, "multipart/")
	if v := args.Find(b.Argument); isForm && v != nil && !v.Is(jsonschema.Object) {
		return argumentError(b.Argument, "must be an object: a form has names")
	}
	switch {
	case b.Template != nil:
		return r.addTemplate(b, args)
	case b.File:
		return r.addFile(b, args)
	case openapi.IsJSON(b.Media):
		r.Body = jsonBody(b, args)
	case b.Media == mediaForm:
		if err := r.addForm(b, args); err != nil {
			return err
		}
	case strings.HasPrefix(b.Media, "multipart/"):
		return r.addParts(b, givenFields(b, args))
	default:
		if v := args.Find(b.Argument); v != nil {
			r.Body = []byte(scalarText(v))
			if strings.HasPrefix(b.Media, "text/") {
				r.Header.Set("Content-Type", b.Media+"; charset=utf-8")
			}
		}
	}
	if r.Body == nil {
		r.Header.Del("Content-Type")
	}
	return nil
}

// jsonBody returns the members that are given, in the order of the arguments. nil: there are none, and none are required.
func jsonBody(b *openapi.Body, args arguments) []byte {
	if b.Argument != "" {
		if v := args.Node.Find(b.Argument); v != nil && (b.Required || !v.Is(jsonschema.Null)) {
			return []byte(v.Raw)
		}
		return nil
	}
	out := append(make([]byte, 0, len(args.Raw)), '{')
	for _, m := range args.Members {
		f := findField(b, m.Name)
		if f == nil {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(jsonschema.AppendQuoted(out, f.Name), ':'), m.Value.Raw...)
	}
	if len(out) == 1 && !b.Required {
		return nil
	}
	return append(out, '}')
}

// findField returns the field of an argument; nil: there is none.
func findField(b *openapi.Body, argument string) *openapi.Field {
	for i := range b.Fields {
		if b.Fields[i].Argument == argument {
			return &b.Fields[i]
		}
	}
	return nil
}

// fieldNames returns the fields by argument.
func fieldNames(b *openapi.Body) map[string]openapi.Field {
	fields := map[string]openapi.Field{}
	for _, f := range b.Fields {
		fields[f.Argument] = f
	}
	return fields
}

// givenField is a field with its value.
type givenField struct {
	openapi.Field
	value *jsonschema.Node
}

// givenFields returns the fields that are given, in the order of the arguments.
func givenFields(b *openapi.Body, args arguments) (given []givenField) {
	if b.Argument != "" {
		v := args.Find(b.Argument)
		if v.Is(jsonschema.Object) {
			for _, m := range v.Members {
				if !m.Value.Is(jsonschema.Null) {
					given = append(given, givenField{openapi.Field{Name: m.Name}, m.Value})
				}
			}
		}
		return given
	}
	for _, m := range args.Members {
		if f := findField(b, m.Name); f != nil && !m.Value.Is(jsonschema.Null) {
			given = append(given, givenField{*f, m.Value})
		}
	}
	return given
}

// newBodyError is for a body that is larger than maxBody.
func newBodyError() error {
	return fault.Errorf(fault.TooLarge, "The arguments produce a body that's too large.")
}

// addForm writes a form. A field without a style is one pair for each item of a list, and JSON for an object.
func (r *Request) addForm(b *openapi.Body, args arguments) error {
	given := givenFields(b, args)
	if len(given) == 0 && !b.Required {
		return nil
	}
	out := newFormOutput()
	for _, f := range given {
		p := openapi.Parameter{Name: f.Name, Style: f.Style, Explode: f.Explode, Reserved: f.Reserved, Media: f.Media}
		if f.Style != "" {
			p.Media = ""
		} else if p.Media == "" && f.value.Is(jsonschema.Object) {
			p.Media = "application/json"
		} else if f.value.Is(jsonschema.Array) && p.Media == "" {
			p.Explode = true
		}
		out.escape = escapeFor(p)
		out.addPairs(p, f.value)
	}
	return r.setBody(out)
}

// newFormOutput returns an output for a form, which is not nil if it is empty.
func newFormOutput() *output {
	return &output{text: []byte{}, limit: maxBody, separator: "&", escape: escapeText}
}

// setBody makes an output the body.
func (r *Request) setBody(out *output) error {
	if out.full {
		return newBodyError()
	}
	r.Body = out.text
	return nil
}

// file is a file of the arguments.
type file struct {
	data        []byte
	name, media string
}

// readFile reads {data, name, media_type}. A bare string is the data.
func readFile(argument string, v *jsonschema.Node) (file, error) {
	data := v.Get("data")
	if v.Is(jsonschema.String) {
		data = v
	}
	if !data.Is(jsonschema.String) {
		return file{}, argumentError(argument, `needs a member "data" with the content in Base64`)
	}
	text := strings.TrimRight(strings.Join(strings.Fields(data.Text()), ""), "=")
	content, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil {
		if content, err = base64.RawURLEncoding.DecodeString(text); err != nil {
			return file{}, argumentError(argument, "isn't valid Base64")
		}
	}
	return file{content, v.GetText("name"), v.GetText("media_type")}, nil
}

// addFile sends the bytes of a file. Its media type has to be the one that the document says, or in its range.
func (r *Request) addFile(b *openapi.Body, args arguments) error {
	v := args.Find(b.Argument)
	if v == nil {
		r.Header.Del("Content-Type")
		return nil
	}
	f, err := readFile(b.Argument, v)
	if err != nil {
		return err
	}
	media := b.Media
	if kind, ranged := strings.CutSuffix(media, "/*"); ranged {
		media = "application/octet-stream"
		if f.media != "" {
			if !isMediaType(f.media) || kind != "*" && !strings.HasPrefix(f.media, kind+"/") {
				return argumentError(b.Argument, "has a media type that this tool doesn't send")
			}
			media = f.media
		}
	}
	r.Header.Set("Content-Type", media)
	r.Body = f.data
	return nil
}

// addTemplate fills the template of an endpoint by hand. Values are JSON, so that no text can become structure.
func (r *Request) addTemplate(b *openapi.Body, args arguments) error {
	root, whole := jsonschema.Decode(b.Template, jsonschema.Limits{Depth: maxLevels})
	if root == nil || !whole {
		return fault.Errorf(fault.Internal, "The template of the body isn't valid.")
	}
	t := template{args: args, names: fieldNames(b), left: maxBody}
	out := newFormOutput()
	switch {
	case openapi.IsJSON(b.Media):
		if filled := t.fillValue(root); filled != nil {
			out.text = filled.AppendTo(nil)
		}
	case b.Media == mediaForm:
		for _, m := range root.Members {
			if v := t.fillValue(m.Value); v != nil && !v.Is(jsonschema.Null) {
				out.addPairs(openapi.Parameter{Name: m.Name, Explode: true}, v)
			}
		}
	case strings.HasPrefix(b.Media, "multipart/"):
		given := t.fillFields(root)
		if t.left < 0 {
			return newBodyError()
		}
		return r.addParts(b, given)
	default:
		out.escape = nil
		if strings.HasSuffix(b.Media, "xml") {
			out.escape = html.EscapeString
		}
		t.fillText(out, root.Text())
	}
	out.full = out.full || t.left < 0
	return r.setBody(out)
}

// template fills placeholders.
type template struct {
	args  arguments
	names map[string]openapi.Field // that are placeholders
	left  int                      // bytes that arguments may fill; negative: they are too long
}

// fillValue replaces strings. One that is a placeholder alone becomes the argument, whatever its type is. nil: it is not given.
func (t *template) fillValue(v *jsonschema.Node) *jsonschema.Node {
	switch v.Kind {
	case jsonschema.String:
		text := v.Text()
		if _, known := t.names[strings.Trim(text, "{}")]; known && text == "{"+strings.Trim(text, "{}")+"}" {
			return t.findValue(strings.Trim(text, "{}"))
		}
		out := output{limit: maxBody}
		t.fillText(&out, text)
		return jsonschema.NewString(string(out.text))
	case jsonschema.Object:
		out := jsonschema.NewObject()
		for _, m := range v.Members {
			if filled := t.fillValue(m.Value); filled != nil {
				out.Members = append(out.Members, jsonschema.Member{Name: m.Name, Value: filled})
			}
		}
		return out
	case jsonschema.Array:
		out := jsonschema.NewArray()
		for _, item := range v.Items {
			if filled := t.fillValue(item); filled != nil {
				out.Items = append(out.Items, filled)
			}
		}
		return out
	}
	return v
}

// fillFields fills the fields of a form.
func (t *template) fillFields(root *jsonschema.Node) (given []givenField) {
	for _, m := range root.Members {
		if v := t.fillValue(m.Value); v != nil && !v.Is(jsonschema.Null) {
			f := t.names[strings.Trim(m.Value.Text(), "{}")]
			f.Name = m.Name
			given = append(given, givenField{f, v})
		}
	}
	return given
}

// fillText replaces the placeholders of a text in one pass, so that an argument has none.
func (t *template) fillText(out *output, text string) {
	for t.left >= 0 && !out.full {
		before, rest, found := strings.Cut(text, "{")
		out.writeText(before)
		if !found {
			return
		}
		name, after, closed := strings.Cut(rest, "}")
		if _, known := t.names[name]; !closed || !known {
			out.writeText("{")
			text = rest
			continue
		}
		if v := t.findValue(name); v != nil {
			out.writeValue(v)
		}
		text = after
	}
}

// findValue returns an argument to write; nil: it is not given, or too long.
func (t *template) findValue(name string) *jsonschema.Node {
	v := t.args.Find(name)
	if v == nil {
		return nil
	}
	if t.left -= len(v.Raw); t.left < 0 {
		return nil
	}
	return v
}
