package clientconfig

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"patchbay/internal/connectors"
	"patchbay/internal/openapi"
)

// kindHTTP is the kind of an entry that is an HTTP API.
const kindHTTP = "http"

// maxDocuments bounds the documents of a file together, in bytes: an import takes files of [MaxBytes].
const maxDocuments = MaxBytes / 2

// API is what a connector to an HTTP API has besides its settings.
type API struct {
	IsFetched  bool                 // the connector's URL is the document's
	Document   []byte               // an uploaded one; nil: none
	Operations []connectors.APITool // picked ones; nil: an entry does not state them
	Endpoints  []openapi.Endpoint   // nil: an entry does not state them
}

// FileAPI is an HTTP API of a file.
type FileAPI struct {
	Kind        string                   `json:"kind,omitempty" doc:"http: an HTTP API."`
	DocumentURL string                   `json:"document_url,omitempty" doc:"Of kind http: where the OpenAPI or Swagger document is."`
	Document    string                   `json:"document,omitempty" doc:"Of kind http: an uploaded document, unless it is too large for this file."`
	Address     string                   `json:"api_url,omitempty" doc:"Of kind http: the server_url of the JSON API: the API's address, if it has another origin than the document."`
	Operations  map[string]FileOperation `json:"operations,omitempty" doc:"Of kind http: picked operations, by method and path."`
	Endpoints   map[string]FileEndpoint  `json:"endpoints,omitempty" doc:"Of kind http: endpoints by name."`
}

// FileOperation is the settings of a picked operation.
type FileOperation struct {
	Filter      string          `json:"filter,omitempty"`
	MaxPages    int             `json:"max_pages,omitempty"`
	Annotations map[string]bool `json:"annotations,omitempty"`
}

// FileEndpoint is an endpoint, in the form of the JSON API.
type FileEndpoint struct {
	Method       string            `json:"method,omitempty"`
	URL          string            `json:"url"`
	Title        string            `json:"title,omitempty"`
	Description  string            `json:"description,omitempty"`
	Headers      map[string]string `json:"headers,omitempty"`
	Media        string            `json:"media,omitempty"`
	Body         string            `json:"body,omitempty"`
	Files        []string          `json:"files,omitempty" nullable:"false"`
	InputSchema  json.RawMessage   `json:"input_schema,omitempty"`
	OutputSchema json.RawMessage   `json:"output_schema,omitempty"`
	Filter       string            `json:"filter,omitempty"`
	Pages        *FilePages        `json:"pages,omitempty"`
	Annotations  map[string]bool   `json:"annotations,omitempty"`
}

// FilePages say how further pages of an endpoint's answer are read.
type FilePages struct {
	Kind     string `json:"kind"`
	Argument string `json:"argument,omitempty"`
	Next     string `json:"next,omitempty"`
	Items    string `json:"items,omitempty"`
	First    int    `json:"first,omitempty"`
	Max      int    `json:"max"`
}

// addAPI makes s an HTTP API. room is what documents may still take, in bytes.
func (s *FileServer) addAPI(a API, address string, room *int) {
	s.FileAPI = FileAPI{Kind: kindHTTP, Address: address, Operations: map[string]FileOperation{}, Endpoints: map[string]FileEndpoint{}}
	s.Type = ""
	if a.IsFetched {
		s.URL, s.DocumentURL = "", s.URL
	}
	if len(a.Document) <= *room {
		s.Document = string(a.Document)
		*room -= len(a.Document)
	}
	for _, o := range a.Operations {
		s.Operations[o.Key] = FileOperation{o.Filter, o.MaxPages, o.Annotations}
	}
	for _, e := range a.Endpoints {
		s.Endpoints[e.Name] = newFileEndpoint(e)
	}
}

func newFileEndpoint(e openapi.Endpoint) FileEndpoint {
	out := FileEndpoint{
		Method: e.Method, URL: e.URL, Title: e.Title, Description: e.Description, Media: e.Media, Body: e.Body, Files: e.Files,
		InputSchema: e.Input, OutputSchema: e.Output, Filter: e.Filter, Annotations: e.Annotations,
	}
	for _, h := range e.Headers {
		if out.Headers == nil {
			out.Headers = map[string]string{}
		}
		out.Headers[h.Name] = h.Value
	}
	if p := e.Pages; p != nil {
		out.Pages = &FilePages{string(p.Kind), p.Argument, p.Next, p.Items, p.First, p.Max}
	}
	return out
}

func (f FileEndpoint) toEndpoint(name string) openapi.Endpoint {
	e := openapi.Endpoint{
		Name: name, Method: f.Method, URL: f.URL, Title: f.Title, Description: f.Description, Media: f.Media, Body: f.Body, Files: f.Files,
		Input: f.InputSchema, Output: f.OutputSchema, Filter: f.Filter, Annotations: f.Annotations,
	}
	for _, name := range slices.Sorted(maps.Keys(f.Headers)) {
		e.Headers = append(e.Headers, openapi.Header{Name: name, Value: f.Headers[name]})
	}
	if p := f.Pages; p != nil {
		e.Pages = &openapi.Pages{Kind: openapi.PageKind(p.Kind), Argument: p.Argument, Next: p.Next, Items: p.Items, First: p.First, Max: p.Max}
	}
	return e
}

// readAPI reads the fields of an HTTP API, which are no fields of a server. It reports whether the entry is one.
func (r *serverReader) readAPI() bool {
	kind, _ := r.fields["kind"].stringValue()
	if kind != kindHTTP {
		return false
	}
	var f FileAPI
	take := func(name string, into any) {
		if n, ok := r.fields[name]; ok && !n.isNull() {
			dec := json.NewDecoder(bytes.NewReader(n.raw))
			dec.DisallowUnknownFields()
			if dec.Decode(into) != nil {
				r.addProblem(name, "This entry matches neither the JSON API nor an export.")
			}
		}
		delete(r.fields, name)
	}
	delete(r.fields, "kind")
	take("document_url", &f.DocumentURL)
	take("document", &f.Document)
	take("server_url", &f.Address) // as in the JSON API
	take("api_url", &f.Address)
	if n := r.fields["operations"]; n.isKind('[') { // as in the JSON API, as the next
		var keys []string
		take("operations", &keys)
		f.Operations = map[string]FileOperation{}
		for _, key := range keys {
			f.Operations[key] = FileOperation{}
		}
	}
	if n := r.fields["endpoints"]; n.isKind('[') {
		var list []struct {
			Name string `json:"name"`
			FileEndpoint
		}
		take("endpoints", &list)
		f.Endpoints = map[string]FileEndpoint{}
		for _, e := range list {
			f.Endpoints[e.Name] = e.FileEndpoint
		}
	}
	take("operations", &f.Operations)
	take("endpoints", &f.Endpoints)
	a := &API{IsFetched: f.DocumentURL != ""}
	if f.Document != "" {
		a.Document = []byte(f.Document)
	}
	if f.Operations != nil {
		a.Operations = []connectors.APITool{}
	}
	for _, key := range slices.Sorted(maps.Keys(f.Operations)) {
		o := f.Operations[key]
		a.Operations = append(a.Operations, connectors.APITool{Key: key, Filter: o.Filter, MaxPages: o.MaxPages, Annotations: o.Annotations})
	}
	if f.Endpoints != nil {
		a.Endpoints = []openapi.Endpoint{}
	}
	for _, name := range slices.Sorted(maps.Keys(f.Endpoints)) {
		a.Endpoints = append(a.Endpoints, f.Endpoints[name].toEndpoint(name))
	}
	switch {
	case a.IsFetched && a.Document != nil:
		r.addProblem("document", "Send document_url or document, not both.")
	case !a.IsFetched && a.Document == nil && len(a.Operations) > 0:
		r.addProblem("document", "The document is missing, or was too large for this file. Add document or document_url.")
	}
	r.API = a
	r.URL = strings.TrimSpace(f.DocumentURL)
	address := strings.TrimSpace(f.Address)
	r.addSetting(func(d *connectors.Draft) { d.Transport, d.ServerURL = connectors.TransportAPI, address })
	return true
}

// readAPIAddress sets the address of an HTTP API: that of its document, else its own, else that of its first endpoint.
func (r *serverReader) readAPIAddress() {
	if r.URL == "" {
		r.URL = r.urls["url"]
	}
	if r.URL == "" && len(r.API.Endpoints) > 0 {
		r.URL = connectors.Origin(r.API.Endpoints[0].URL)
	}
	address := r.URL
	if address == "" {
		r.addProblem("url", "Add a url or document_url.")
	}
	if called, ok := parsePlaceholder(address); ok {
		r.addProblem("url", "Replace "+called+" with the address.")
	}
	r.addSetting(func(d *connectors.Draft) { d.URL = address })
}
