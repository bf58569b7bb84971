package openapi

import (
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"patchbay/internal/fault"
	"patchbay/internal/jsonschema"
)

// Endpoint is a tool that is written by hand. {name} in the URL, in headers and in the body stands for an argument.
type Endpoint struct {
	Name        string
	Title       string `json:",omitempty"`
	Description string `json:",omitempty"`
	Method      string
	URL         string          // scheme and host are fixed
	Headers     []Header        `json:",omitempty"`
	Media       string          `json:",omitempty"` // of the body; empty: there is none
	Body        string          `json:",omitempty"` // JSON; for forms an object of fields; else text
	Files       []string        `json:",omitempty"` // arguments that are files, of a multipart body or of all of the body
	Input       json.RawMessage `json:",omitempty"` // schema of the arguments; empty: all are text
	Output      json.RawMessage `json:",omitempty"` // schema of the answer; empty: none
	Filter      string          `json:",omitempty"`
	Pages       *Pages          `json:",omitempty"`
	Annotations map[string]bool `json:",omitempty"` // in place of those that follow from the method
}

// Header is a header of an endpoint: fixed, or one placeholder.
type Header struct{ Name, Value string }

var (
	placeholder     = regexp.MustCompile(`\{([A-Za-z_][A-Za-z0-9_.-]{0,63})\}`)
	onlyPlaceholder = regexp.MustCompile(`^\{([A-Za-z_][A-Za-z0-9_.-]{0,63})\}$`)
	toolName        = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,63}$`)
)

const maxTemplate = 64 << 10 // bytes

// endpointWriter makes the tool of an endpoint.
type endpointWriter struct {
	endpoint Endpoint
	binding  *Binding
	input    *jsonschema.Node
	names    []string // of arguments, in the order of their places
	required []string
}

// Tool makes the tool. The error is a fault with a sentence.
func (e Endpoint) Tool() (*Tool, error) {
	method := strings.ToUpper(e.Method)
	if method == "" {
		method = "GET"
	}
	if !isToken(method) || method == "CONNECT" || method == "TRACE" {
		return nil, fault.Errorf(fault.Invalid, "The method isn't supported.")
	}
	if !toolName.MatchString(e.Name) {
		return nil, fault.Errorf(fault.Invalid, "A name has up to 64 letters, digits, hyphens and underscores, and begins with a letter.")
	}
	w := endpointWriter{endpoint: e, binding: &Binding{Version: BindingVersion, Method: method, Accept: "application/json", Filter: e.Filter, Pages: e.Pages}}
	steps := []func() error{w.readInput, w.readURL, w.readHeaders, w.readBody, w.checkInput}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, err
		}
	}
	output, err := w.readOutput()
	if err != nil {
		return nil, err
	}
	o := &Operation{Name: e.Name, Method: method, Path: w.binding.Path, Title: shortenText(e.Title, 120), Description: e.Description, Annotations: e.Annotations}
	return &Tool{Name: e.Name, Definition: o.writeDefinition(w.writeInput(), output), Binding: w.binding}, nil
}

func (w *endpointWriter) readInput() error {
	w.input = jsonschema.NewObject()
	if len(w.endpoint.Input) == 0 {
		return nil
	}
	root, whole := jsonschema.Decode(w.endpoint.Input, jsonschema.Limits{Bytes: 128 << 10, Values: 10_000, Depth: 60})
	if !root.Is(jsonschema.Object) || !whole || root.GetText("type") != "object" {
		return fault.Errorf(fault.Invalid, "The arguments' schema must be a JSON Schema of type object.")
	}
	w.input = root
	return nil
}

// addName notes the placeholder of a place.
func (w *endpointWriter) addName(name string, required bool) {
	if !slices.Contains(w.names, name) {
		w.names = append(w.names, name)
	}
	if required && !slices.Contains(w.required, name) {
		w.required = append(w.required, name)
	}
}

func (w *endpointWriter) readURL() error {
	text, _, _ := strings.Cut(strings.TrimSpace(w.endpoint.URL), "#")
	text, query, _ := strings.Cut(text, "?")
	scheme, rest, ok := strings.Cut(text, "://")
	host, path, _ := strings.Cut(rest, "/")
	if !ok || strings.ContainsAny(scheme+host, "{}") {
		return fault.Errorf(fault.Invalid, "The URL must begin with https:// or http:// and a host without placeholders.")
	}
	server, err := checkServerURL(scheme+"://"+host, "")
	if err != nil {
		return err
	}
	template, variables, err := encodeTemplate("/" + path)
	if err != nil {
		return fault.Errorf(fault.Invalid, "The path of the URL isn't valid.")
	}
	w.binding.Server, w.binding.Path = server, template
	for _, name := range variables {
		if !onlyPlaceholder.MatchString("{" + name + "}") {
			return fault.Errorf(fault.Invalid, "A placeholder has letters, digits, dots, hyphens and underscores, and begins with a letter or an underscore.")
		}
		w.addName(name, true)
		w.binding.Parameters = append(w.binding.Parameters, Parameter{Argument: name, Name: name, In: "path", Style: "simple", Required: true})
	}
	return w.readQuery(query)
}

func (w *endpointWriter) readQuery(query string) error {
	for pair := range strings.SplitSeq(query, "&") {
		if pair == "" {
			continue
		}
		name, text, _ := strings.Cut(pair, "=")
		name, nameErr := url.QueryUnescape(name)
		text, textErr := url.QueryUnescape(text)
		if nameErr != nil || textErr != nil || placeholder.MatchString(name) {
			return fault.Errorf(fault.Invalid, "The query of the URL isn't valid.")
		}
		p := Parameter{Name: name, In: "query"}
		if err := w.setValue(&p, text); err != nil {
			return err
		}
		w.binding.Parameters = append(w.binding.Parameters, p)
	}
	return nil
}

// setValue makes a parameter constant or an argument.
func (w *endpointWriter) setValue(p *Parameter, text string) error {
	if match := onlyPlaceholder.FindStringSubmatch(text); match != nil {
		p.Argument, p.Explode = match[1], p.In == "query"
		p.Style = defaultStyles[p.In]
		w.addName(p.Argument, false)
		return nil
	}
	if placeholder.MatchString(text) {
		return fault.Errorf(fault.Invalid, "Each query or header value must be fixed text or a single {placeholder}.")
	}
	p.Value = text
	return nil
}

func (w *endpointWriter) readHeaders() error {
	for _, h := range w.endpoint.Headers {
		if strings.EqualFold(h.Name, "Accept") && !placeholder.MatchString(h.Value) {
			w.binding.Accept = h.Value
			continue
		}
		if IsRefusedHeader(h.Name) {
			return fault.Errorf(fault.Invalid, "A header has a name that isn't valid, or that Patchbay sets itself.")
		}
		p := Parameter{Name: h.Name, In: "header"}
		if err := w.setValue(&p, h.Value); err != nil {
			return err
		}
		if strings.ContainsFunc(p.Value, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return fault.Errorf(fault.Invalid, "A header has a control character in its value.")
		}
		w.binding.Parameters = append(w.binding.Parameters, p)
	}
	return nil
}

// readBody sets the body: a file, or a template.
func (w *endpointWriter) readBody() error {
	e := w.endpoint
	if e.Media == "" {
		return nil
	}
	media := mediaType(e.Media)
	if media == "" || len(e.Body) > maxTemplate {
		return fault.Errorf(fault.Invalid, "The body has no valid media type, or is longer than %d KiB.", maxTemplate>>10)
	}
	b := &Body{Media: media}
	w.binding.Body = b
	if match := onlyPlaceholder.FindStringSubmatch(strings.TrimSpace(e.Body)); match != nil && slices.Contains(e.Files, match[1]) && !isMultipart(media) {
		b.Argument, b.File = match[1], true
		w.addName(match[1], false)
		return nil
	}
	b.Template = jsonschema.AppendQuoted(nil, e.Body)
	if IsJSON(media) || media == mediaForm || isMultipart(media) {
		root, whole := jsonschema.Decode([]byte(e.Body), jsonschema.Limits{Depth: 60})
		if root == nil || !whole || !IsJSON(media) && !root.Is(jsonschema.Object) {
			return fault.Errorf(fault.Invalid, "The body must be valid JSON. A placeholder is a string: \"{name}\".")
		}
		b.Template = root.AppendTo(nil)
	}
	properties := w.input.Get("properties")
	for _, match := range placeholder.FindAllStringSubmatch(e.Body, -1) {
		name := match[1]
		isKnown := properties.Get(name) != nil || len(w.endpoint.Input) == 0 || slices.Contains(e.Files, name)
		if isKnown && !slices.ContainsFunc(b.Fields, func(f Field) bool { return f.Argument == name }) {
			w.addName(name, false)
			b.Fields = append(b.Fields, Field{Argument: name, Name: name, File: slices.Contains(e.Files, name)})
		}
	}
	return nil
}

// checkInput refuses arguments of the schema that have no place.
func (w *endpointWriter) checkInput() error {
	if properties := w.input.Get("properties"); properties != nil {
		for _, m := range properties.Members {
			if !slices.Contains(w.names, m.Name) {
				return fault.Errorf(fault.Invalid, "The schema has an argument that the URL, the headers and the body don't use.")
			}
		}
	}
	return nil
}

// writeInput returns the input schema: that of the endpoint, with an entry for each placeholder.
func (w *endpointWriter) writeInput() *jsonschema.Node {
	properties := jsonschema.NewObject()
	for _, name := range w.names {
		schema := w.input.Get("properties").Get(name)
		switch {
		case schema.Is(jsonschema.Object):
		case schema != nil:
			schema = jsonschema.NewObject()
		case slices.Contains(w.endpoint.Files, name):
			schema = fileSchema()
		default:
			schema = jsonschema.NewObject().Set("type", jsonschema.NewString("string"))
		}
		properties.Set(name, schema)
	}
	for _, item := range w.input.GetItems("required") {
		if name := item.Text(); slices.Contains(w.names, name) {
			w.addName(name, true)
		}
	}
	root := jsonschema.NewObject().Set("type", jsonschema.NewString("object")).Set("properties", properties)
	if len(w.required) > 0 {
		root.Set("required", jsonschema.NewStrings(w.required))
	}
	root.Set("additionalProperties", boolNode(false))
	if defs := w.input.GetKind("$defs", jsonschema.Object); defs != nil {
		root.Set("$defs", defs)
	}
	return root
}

// readOutput returns the output schema, and sets the form of results. A filter's output has no schema.
func (w *endpointWriter) readOutput() (*jsonschema.Node, error) {
	if len(w.endpoint.Output) == 0 || w.endpoint.Filter != "" {
		return nil, nil
	}
	root, whole := jsonschema.Decode(w.endpoint.Output, jsonschema.Limits{Bytes: 128 << 10, Values: 10_000, Depth: 60})
	if !root.Is(jsonschema.Object) || !whole {
		return nil, fault.Errorf(fault.Invalid, "The response schema isn't a JSON Schema.")
	}
	if root.GetText("type") == "object" {
		w.binding.Result = ResultObject
		return root, nil
	}
	w.binding.Result = ResultWrapped
	defs := root.GetKind("$defs", jsonschema.Object)
	root.Drop("$defs")
	out := jsonschema.NewObject().Set("type", jsonschema.NewString("object")).Set("properties", jsonschema.NewObject().Set("result", root))
	if defs != nil {
		out.Set("$defs", defs)
	}
	return out, nil
}
