package openapitest

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"strings"
	"time"

	"patchbay/internal/openapi"
	"patchbay/internal/openapi/httpcall"
)

// Server answers as a document says, and keeps the request.
type Server struct {
	definition *Definition
	http       *httptest.Server
	seen       seen
	answer     []byte
	media      string
}

// NewServer starts a server for a document.
func NewServer(document []byte) (*Server, error) {
	d, err := ReadDefinition(document)
	if err != nil {
		return nil, err
	}
	s := &Server{definition: d}
	s.http = httptest.NewServer(http.HandlerFunc(s.serveRequest))
	return s, nil
}

// Close stops the server.
func (s *Server) Close() { s.http.Close() }

// URL returns the address of the server.
func (s *Server) URL() string { return s.http.URL }

// CountOperations counts the operations of the document, without package openapi.
func (s *Server) CountOperations() int { return s.definition.countOperations() }

// DocumentPath is where the server has its document, with itself as the server of all operations.
const DocumentPath = "/document-of-this-server"

func (s *Server) serveRequest(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == DocumentPath {
		_, _ = io.WriteString(w, s.definition.writeMoved(s.http.URL))
		return
	}
	path, query, _ := strings.Cut(r.RequestURI, "?")
	body, _ := io.ReadAll(r.Body)
	s.seen = seen{r.Method, path, query, r.Header.Clone(), body}
	if s.media != "" {
		w.Header().Set("Content-Type", s.media)
	}
	_, _ = w.Write(s.answer)
}

// Trip calls an operation with arguments that its schema accepts. The error says what differs.
func (s *Server) Trip(ctx context.Context, made *openapi.Tool, o *openapi.Operation) error {
	tool, err := s.definition.readTool(made)
	if err != nil {
		return err
	}
	operation, item := s.definition.findOperation(o.Method, o.Path)
	if err := tool.checkOperation(operation, item, o.Path); err != nil {
		return err
	}
	s.setAnswer(o.Method, operation)
	args, result, err := s.callSample(ctx, made, tool.input, sampler{input: true})
	if err != nil && strings.Contains(err.Error(), "delimiter") {
		args, result, err = s.callSample(ctx, made, tool.input, sampler{input: true, plain: true})
	}
	if err != nil {
		return err
	}
	if err := s.compareRequest(made.Binding, o, operation, item, args); err != nil {
		return err
	}
	return s.compareResult(made.Binding, tool.output, result)
}

// TripThrough calls an operation with plain arguments through a client, which returns the result of MCP. The tool's API has to be at this server.
func (s *Server) TripThrough(made *openapi.Tool, o *openapi.Operation, call func(arguments []byte) ([]byte, error)) error {
	tool, err := s.definition.readTool(made)
	if err != nil {
		return err
	}
	value, _ := sampler{root: tool.input, input: true, plain: true}.Value(tool.input)
	args, isObject := value.(map[string]any)
	if !isObject {
		return fmt.Errorf("the schema has no sample")
	}
	operation, item := s.definition.findOperation(o.Method, o.Path)
	s.setAnswer(o.Method, operation)
	s.seen = seen{}
	result, err := call([]byte(encodeJSON(args)))
	if err != nil {
		return err
	}
	if _, err := s.readResult(result); err != nil {
		return err
	}
	return s.compareRequest(made.Binding, o, operation, item, args)
}

// callSample calls with a sample of a schema. A style that cannot carry difficult texts refuses them; then plain ones make the trip.
func (s *Server) callSample(ctx context.Context, tool *openapi.Tool, schema map[string]any, from sampler) (map[string]any, httpcall.Result, error) {
	from.root = schema
	value, ok := from.Value(schema)
	args, isObject := value.(map[string]any)
	if !ok || !isObject {
		return nil, httpcall.Result{}, fmt.Errorf("the schema has no sample")
	}
	if err := checkArguments(ctx, tool.Definition, []byte(encodeJSON(args))); err != nil {
		return nil, httpcall.Result{}, fmt.Errorf("the sample %.500s is refused: %w", encodeJSON(args), err)
	}
	result, err := s.sendCall(ctx, tool, args)
	return args, result, err
}

// sendCall sends a call.
func (s *Server) sendCall(ctx context.Context, tool *openapi.Tool, args map[string]any) (httpcall.Result, error) {
	binding, err := openapi.ReadBinding(tool.Binding.JSON())
	if err != nil {
		return httpcall.Result{}, err
	}
	target, err := url.Parse(binding.Server)
	if err != nil {
		return httpcall.Result{}, err
	}
	binding.Server = s.http.URL + target.EscapedPath()
	request, err := httpcall.Build(binding, []byte(encodeJSON(args)))
	if err != nil {
		return httpcall.Result{}, err
	}
	r, err := request.HTTP(ctx)
	if err != nil {
		return httpcall.Result{}, err
	}
	response, err := s.http.Client().Do(r)
	if err != nil {
		return httpcall.Result{}, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return httpcall.Result{}, err
	}
	s.seen.path = strings.TrimPrefix(s.seen.path, target.EscapedPath())
	answer := httpcall.Response{Status: response.StatusCode, Header: response.Header, Body: body, URL: request.URL}
	return httpcall.NewResult(ctx, tool.Binding, answer, nil, time.Now()), nil
}

// compareRequest compares what the server reads with the arguments.
func (s *Server) compareRequest(b *openapi.Binding, o *openapi.Operation, operation, item map[string]any, args map[string]any) error {
	if s.seen.method != o.Method {
		return fmt.Errorf("method %s", s.seen.method)
	}
	segments, err := readPath(o.Path, s.seen.path)
	if err != nil {
		return err
	}
	if err := s.compareParameters(b, o, segments, s.definition.listParameters(operation, item), args); err != nil {
		return err
	}
	return s.compareBody(b.Body, operation, args)
}

// compareParameters compares the parameters that the document describes, and the variables of the path that it does not.
func (s *Server) compareParameters(b *openapi.Binding, o *openapi.Operation, segments map[string]string, described map[string]parameter, args map[string]any) error {
	for name := range segments {
		if key := "path " + name; described[key].name == "" {
			described[key] = parameter{name: name, in: "path", style: "simple"}
		}
	}
	arguments := map[string]string{}
	for _, p := range b.Parameters {
		arguments[p.In+" "+p.Name] = p.Argument
	}
	for key, p := range described {
		if p.in == "body" || p.in == "formData" || s.definition.isRefused(p, o.Path) {
			continue
		}
		arg, given := args[arguments[key]]
		if !given {
			return fmt.Errorf("parameter %s in %s: there is no sample", p.name, p.in)
		}
		want := toWords(arg)
		if p.media != "" {
			want = encodeJSON(arg)
		}
		if have := s.readParameter(p, segments, want); !reflect.DeepEqual(have, want) && arg != nil && !isEmpty(want) && !isNested(p, arg) {
			return fmt.Errorf("parameter %s in %s (%s, explode %v): the server reads %q, and %q was sent", p.name, p.in, p.style, p.explode, have, want)
		}
	}
	return nil
}

// isNested reports whether a value has no serialisation in the specification: members of members in brackets.
func isNested(p parameter, v any) bool {
	object, ok := v.(map[string]any)
	if p.style == "deepObject" && !ok {
		return true
	}
	for _, item := range object {
		switch item.(type) {
		case map[string]any, []any:
			return p.style == "deepObject"
		}
	}
	return false
}

func isEmpty(v any) bool {
	value := reflect.ValueOf(v)
	return (value.Kind() == reflect.Slice || value.Kind() == reflect.Map) && value.Len() == 0
}

func (s *Server) readParameter(p parameter, segments map[string]string, want any) any {
	switch p.in {
	case "path":
		return readSegment(p, segments[p.name], want)
	case "query":
		return readQuery(p, s.seen.query, want)
	case "querystring":
		return readQueryString(p, s.seen.query)
	case "header":
		if text, scalar := want.(string); scalar && strings.TrimSpace(text) == s.seen.header.Get(p.name) {
			return want
		}
		return readParts(s.seen.header.Get(p.name), ",", p.explode, plainText, want)
	case "cookie":
		pairs := strings.Split(s.seen.header.Get("Cookie"), "; ")
		if p.style == "cookie" {
			return readPairs(p, pairs, decodePath, want)
		}
		for _, pair := range pairs {
			if have := readQuery(p, pair, want); have != nil && !isEmpty(have) {
				return have
			}
		}
	}
	return nil
}

// compareBody compares the body with the arguments.
func (s *Server) compareBody(b *openapi.Body, operation map[string]any, args map[string]any) error {
	if b == nil {
		if len(s.seen.body) > 0 {
			return fmt.Errorf("there is a body of %d bytes", len(s.seen.body))
		}
		return nil
	}
	want, given := args[b.Argument], args[b.Argument] != nil
	if b.Argument == "" {
		object := map[string]any{}
		for _, f := range b.Fields {
			if v, there := args[f.Argument]; there {
				object[f.Name] = v
			}
		}
		want, given = object, len(object) > 0
	}
	if !given {
		return nil
	}
	media, _, err := mime.ParseMediaType(s.seen.header.Get("Content-Type"))
	if err != nil {
		return err
	}
	switch {
	case b.File:
		return compareFile(want, s.seen.body)
	case strings.HasSuffix(media, "json"):
		return compareJSON(want, s.seen.body)
	case media == "application/x-www-form-urlencoded":
		return s.compareForm(b, operation, want)
	case strings.HasPrefix(media, "multipart/"):
		return s.compareMultipart(want)
	}
	if string(s.seen.body) != toWord(want) {
		return fmt.Errorf("the body is %q", s.seen.body)
	}
	return nil
}

func compareJSON(want any, body []byte) error {
	var have any
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	if err := decoder.Decode(&have); err != nil {
		return fmt.Errorf("the body %.200q: %w", body, err)
	}
	if encodeJSON(have) != encodeJSON(want) {
		return fmt.Errorf("the body is %.300s, and %.300s was sent", encodeJSON(have), encodeJSON(want))
	}
	return nil
}

func compareFile(want any, body []byte) error {
	object, _ := want.(map[string]any)
	text, _ := object["data"].(string)
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil || !bytes.Equal(data, body) {
		return fmt.Errorf("the file has %d bytes, and %d were sent: %v", len(body), len(data), err)
	}
	return nil
}

// formEncodings returns how the document writes fields of a form.
func (s *Server) formEncodings(operation map[string]any) map[string]parameter {
	out := map[string]parameter{}
	parameters, _ := operation["parameters"].([]any)
	for _, v := range parameters {
		if p := s.definition.resolveRefs(v); p["in"] == "formData" {
			name, _ := p["name"].(string)
			out[name] = s.definition.readDefinition(p, name, "formData")
		}
	}
	body := s.definition.resolveRefs(operation["requestBody"])
	content, _ := body["content"].(map[string]any)
	form, _ := content["application/x-www-form-urlencoded"].(map[string]any)
	encodings, _ := form["encoding"].(map[string]any)
	for name, v := range encodings {
		encoding := s.definition.resolveRefs(v)
		if encoding["style"] != nil || encoding["explode"] != nil {
			out[name] = s.definition.readDefinition(encoding, name, "query")
		}
	}
	return out
}

func (s *Server) compareForm(b *openapi.Body, operation map[string]any, want any) error {
	encodings := s.formEncodings(operation)
	object, _ := want.(map[string]any)
	for name, v := range object {
		if v == nil {
			continue
		}
		p, encoded := encodings[name]
		if !encoded {
			p = parameter{name: name, style: "form", explode: true}
		}
		value := toWords(v)
		if _, isObject := v.(map[string]any); isObject && !encoded {
			value, p.explode = encodeJSON(v), false
		}
		if have := readQuery(p, string(s.seen.body), value); !reflect.DeepEqual(have, value) && !isEmpty(value) && !isNested(p, v) {
			return fmt.Errorf("the field %s (%s, explode %v) is %q, and %q was sent, of %s", name, p.style, p.explode, have, value, b.Media)
		}
	}
	return nil
}

func (s *Server) compareMultipart(want any) error {
	parts, err := readMultipart(s.seen.header.Get("Content-Type"), s.seen.body)
	if err != nil {
		return err
	}
	object, _ := want.(map[string]any)
	for name, v := range object {
		if v == nil {
			continue
		}
		values, isList := v.([]any)
		if !isList {
			values = []any{v}
		}
		if len(parts[name]) == 1 && strings.HasSuffix(parts[name][0].media, "json") {
			values = []any{v}
		}
		if len(parts[name]) != len(values) {
			return fmt.Errorf("the field %s has %d parts, and %d were sent", name, len(parts[name]), len(values))
		}
		for i, value := range values {
			if err := comparePart(parts[name][i], value); err != nil {
				return fmt.Errorf("the field %s: %w", name, err)
			}
		}
	}
	return nil
}

func comparePart(p part, want any) error {
	if p.file != "" {
		return compareFile(want, p.data)
	}
	if strings.HasSuffix(p.media, "json") {
		return compareJSON(want, p.data)
	}
	if string(p.data) != toWord(want) {
		return fmt.Errorf("it is %q, and %q was sent", p.data, toWord(want))
	}
	return nil
}
