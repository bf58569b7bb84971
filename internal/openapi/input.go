package openapi

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"patchbay/internal/fault"
	"patchbay/internal/jsonschema"
)

// inputWriter merges parameters and body into one input schema.
type inputWriter struct {
	document   *Document
	operation  *Operation
	binding    *Binding
	schemas    *schemaWriter
	names      argumentNames
	properties *jsonschema.Node
	required   []string
}

// locations are where parameters are, by priority for the plain name.
var locations = []string{"path", "query", "querystring", "header", "cookie"}

// writeInput returns the input schema, and completes the binding.
func (d *Document) writeInput(o *Operation, b *Binding) (*jsonschema.Node, error) {
	w := inputWriter{document: d, operation: o, binding: b, schemas: d.newSchemaWriter(false), names: argumentNames{}, properties: jsonschema.NewObject()}
	parameters, err := d.mergeParameters(o)
	if err != nil {
		return nil, err
	}
	if parameters, err = w.readPath(parameters); err != nil {
		return nil, err
	}
	for _, in := range locations {
		for _, p := range parameters {
			if p.GetText("in") == in {
				w.addParameter(p, in)
			}
		}
	}
	if err := w.addBody(parameters); err != nil {
		return nil, err
	}
	slices.SortStableFunc(b.Parameters, func(x, y Parameter) int {
		return cmp.Or(slices.Index(locations, x.In)-slices.Index(locations, y.In), strings.Compare(x.Name, y.Name))
	})
	return w.writeRoot(), nil
}

func (w *inputWriter) writeRoot() *jsonschema.Node {
	root := jsonschema.NewObject().Set("type", jsonschema.NewString("object")).Set("properties", w.properties)
	if len(w.required) > 0 {
		root.Set("required", jsonschema.NewStrings(w.required))
	}
	root.Set("additionalProperties", boolNode(false))
	if defs := w.schemas.writeDefs(); defs != nil {
		root.Set("$defs", defs)
	}
	return root
}

// addProperty adds an argument. The TypeScript SDK accepts objects alone as the schemas of arguments.
func (w *inputWriter) addProperty(name string, schema *jsonschema.Node, required bool) {
	if !schema.Is(jsonschema.Object) {
		schema = jsonschema.NewObject()
	}
	w.properties.Members = append(w.properties.Members, jsonschema.Member{Name: name, Value: schema})
	if required {
		w.required = append(w.required, name)
	}
}

// readPath sets the path of the binding. It returns the parameters without those of the path that the path does not have, and with those
// that it has and the document does not describe.
func (w *inputWriter) readPath(parameters []value) ([]value, error) {
	path, _, _ := strings.Cut(w.operation.Path, "#") // some documents tell operations apart by it
	path, query, _ := strings.Cut(path, "?")
	template, variables, err := encodeTemplate(path)
	if err != nil {
		return nil, err
	}
	w.binding.Path = template
	fixed, err := url.ParseQuery(query)
	if err != nil {
		return nil, errPath
	}
	for name, values := range fixed {
		for _, text := range values {
			if !strings.ContainsAny(text, "{}") {
				w.binding.Parameters = append(w.binding.Parameters, Parameter{Name: name, In: "query", Value: text})
			}
		}
	}
	kept := slices.DeleteFunc(slices.Clone(parameters), func(p value) bool {
		return p.GetText("in") == "path" && !slices.Contains(variables, p.GetText("name"))
	})
	for _, name := range variables {
		if !slices.ContainsFunc(kept, func(p value) bool { return p.GetText("in") == "path" && p.GetText("name") == name }) {
			kept = append(kept, value{implicitParameter(name), w.operation.node.source})
		}
	}
	return kept, nil
}

func implicitParameter(name string) *jsonschema.Node {
	text := jsonschema.NewObject().Set("type", jsonschema.NewString("string"))
	return jsonschema.NewObject().Set("name", jsonschema.NewString(name)).Set("in", jsonschema.NewString("path")).
		Set("type", jsonschema.NewString("string")).Set("schema", text)
}

// encodeTemplate encodes a path outside its braces, and returns its variables in their order.
func encodeTemplate(path string) (template string, variables []string, err error) {
	var out strings.Builder
	for rest := path; rest != ""; {
		literal, after, variable := strings.Cut(rest, "{")
		if strings.Contains(literal, "}") {
			return "", nil, errPath
		}
		escapePath(&out, literal)
		if !variable {
			break
		}
		name, behind, closed := strings.Cut(after, "}")
		if !closed || name == "" || strings.ContainsAny(name, "{/") {
			return "", nil, errPath
		}
		out.WriteString("{" + name + "}")
		if !slices.Contains(variables, name) {
			variables = append(variables, name)
		}
		rest = behind
	}
	for segment := range strings.SplitSeq(path, "/") {
		if plain, _ := url.PathUnescape(segment); plain == "." || plain == ".." {
			return "", nil, errPath
		}
	}
	return out.String(), variables, nil
}

// escapePath writes a part of a path. Escapes that it has stay.
func escapePath(out *strings.Builder, literal string) {
	for i := range len(literal) {
		c := literal[i]
		isEscape := c == '%' && i+2 < len(literal) && isHex(literal[i+1]) && isHex(literal[i+2])
		if isEscape || isLetter(c) || c >= '0' && c <= '9' || strings.IndexByte("-._~!$&'()*+,;=:@/", c) >= 0 {
			out.WriteByte(c)
			continue
		}
		const digits = "0123456789ABCDEF"
		out.Write([]byte{'%', digits[c>>4], digits[c&15]})
	}
}

func isHex(c byte) bool { return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f' }

// addParameter adds a parameter to schema and binding.
func (w *inputWriter) addParameter(v value, in string) {
	name := v.GetText("name")
	if name == "" && in != "querystring" || w.isRefused(name, in) {
		return
	}
	p := Parameter{Name: name, In: in, Required: v.IsTrue("required") || in == "path"}
	schema := w.readSerialisation(v, &p)
	if name == "" {
		name = "query_string"
	}
	p.Argument = w.names.Take(name, in)
	property := w.schemas.writeSchema(schema, 2)
	describeProperty(property, v)
	w.addProperty(p.Argument, property, p.Required)
	w.binding.Parameters = append(w.binding.Parameters, p)
}

// describeProperty gives a property the description of its parameter.
func describeProperty(property *jsonschema.Node, v value) {
	if text := shortenText(v.GetText("description"), maxTextBytes); text != "" && property.Is(jsonschema.Object) {
		property.Set("description", jsonschema.NewString(text))
	}
	if v.IsTrue("deprecated") && property.Is(jsonschema.Object) {
		property.Set("deprecated", jsonschema.NewTrue())
	}
}

// defaultStyles are the styles of each location (OpenAPI, Parameter Object).
var defaultStyles = map[string]string{"path": "simple", "query": "form", "header": "simple", "cookie": "form"}

var styles = map[string][]string{
	"path":   {"simple", "label", "matrix"},
	"query":  {"form", "spaceDelimited", "pipeDelimited", "tabDelimited", "deepObject"},
	"header": {"simple"},
	"cookie": {"form", "cookie"},
}

// readSerialisation sets how a parameter is written, and returns its schema.
func (w *inputWriter) readSerialisation(v value, p *Parameter) value {
	if w.document.dialect == swagger2 {
		format := collectionStyles[v.GetText("collectionFormat")]
		p.Style, p.Explode = format.style, format.explode
		if !slices.Contains(styles[p.In], p.Style) {
			p.Style, p.Explode = defaultStyles[p.In], false
		}
		return swaggerSchema(v)
	}
	if content := v.Get("content").Fields(); len(content) > 0 {
		p.Media = mediaType(content[0].Name)
		return value{content[0].Value, v.source}.Get("schema")
	}
	p.Style = v.GetText("style")
	if !slices.Contains(styles[p.In], p.Style) {
		p.Style = defaultStyles[p.In]
	}
	p.Explode = p.Style == "form" || p.Style == "cookie" || p.Style == "deepObject"
	if explode := v.Get("explode"); explode.Is(jsonschema.True) || explode.Is(jsonschema.False) {
		p.Explode = explode.Is(jsonschema.True) || p.Style == "deepObject"
	}
	p.Reserved = v.IsTrue("allowReserved")
	return v.Get("schema")
}

// refusedHeaders are headers that arguments do not set: they belong to the connection, to the body or to the credential.
var refusedHeaders = map[string]bool{
	"accept": true, "accept-encoding": true, "authorization": true, "connection": true, "content-encoding": true, "content-length": true,
	"content-type": true, "cookie": true, "cookie2": true, "expect": true, "forwarded": true, "host": true, "http2-settings": true, "keep-alive": true,
	"proxy-authorization": true, "proxy-connection": true, "te": true, "trailer": true, "transfer-encoding": true, "upgrade": true, "via": true,
}

// IsRefusedHeader reports whether a header may not be set by arguments, or has no valid name.
func IsRefusedHeader(name string) bool {
	return !isToken(name) || refusedHeaders[strings.ToLower(name)]
}

// isRefused reports whether a parameter is not set by arguments: a refused header, or the place of a credential.
func (w *inputWriter) isRefused(name, in string) bool {
	if in == "header" && IsRefusedHeader(name) || in == "cookie" && !isToken(name) {
		return true
	}
	for _, s := range w.document.Schemes {
		same := s.Parameter == name || in == "header" && strings.EqualFold(s.Parameter, name)
		if s.Type == SchemeAPIKey && s.In == in && same {
			return true
		}
	}
	return false
}

var errBody = fault.Errorf(fault.Invalid, "The operation needs an unsupported type of body.")
