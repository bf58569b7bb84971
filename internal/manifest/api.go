package manifest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"patchbay/client"
)

// kindHTTP is the kind of a connector that is an HTTP API.
const kindHTTP = "http"

// API is what a connector to an HTTP API has besides its settings.
type API struct {
	DocumentURL string
	Document    string              // an uploaded one; empty: none
	Operations  map[string]Document // settings of picked ones, by method and path; nil: not in the file
	Endpoints   map[string]Document // by name; nil: not in the file
}

// APIState is the state of an HTTP API.
type APIState struct {
	Document   client.DocumentInfo
	Operations map[string]client.Operation // picked ones, by method and path
	Endpoints  map[string]client.Endpoint  // by name
}

// readAPI moves the members of an HTTP API out of a connector; nil: it is an MCP server.
func (r *fileReader) readAPI(location string, v map[string]any) *API {
	kind, ok := v["kind"]
	delete(v, "kind")
	if !ok || kind == "mcp" {
		return nil
	}
	if kind != kindHTTP {
		r.addError(location+".kind", `must be "mcp" or "http"`)
		return nil
	}
	api := &API{DocumentURL: r.readText(location, v, "document_url")}
	if ref, ok := v["document"].(map[string]any); ok {
		delete(v, "document")
		api.Document = r.readFileReference(location+".document", ref)
	} else {
		api.Document = r.readText(location, v, "document")
	}
	if api.DocumentURL != "" && (api.Document != "" || v["url"] != nil) {
		r.addError(location+".document_url", "stands alone, without url or document")
	}
	if list, ok := v["operations"].([]any); ok {
		settings := map[string]any{}
		for _, key := range list {
			settings[fmt.Sprint(key)] = nil
		}
		v["operations"] = settings
	}
	if _, ok := v["operations"]; ok {
		api.Operations = map[string]Document{}
		for key, fields := range r.eachMember(location+".operations", v["operations"]) {
			at := location + ".operations." + key
			api.Operations[key] = r.decodeEntry(at, orEmpty(r.readObject(at, fields)), new(client.OperationPatch))
		}
	}
	if _, ok := v["endpoints"]; ok {
		api.Endpoints = map[string]Document{}
		for name, fields := range r.eachMember(location+".endpoints", v["endpoints"]) {
			at := location + ".endpoints." + name
			api.Endpoints[name] = r.decodeEntry(at, orEmpty(r.readObject(at, fields)), new(client.EndpointPatch))
		}
	}
	delete(v, "operations")
	delete(v, "endpoints")
	return api
}

func orEmpty(v map[string]any) map[string]any {
	if v == nil {
		return map[string]any{}
	}
	return v
}

// readText moves a text out of an object; empty: there is none.
func (r *fileReader) readText(location string, v map[string]any, name string) string {
	value, ok := v[name]
	delete(v, name)
	text, isText := value.(string)
	if ok && !isText {
		r.addError(location+"."+name, "must be a string")
	}
	return text
}

// maxDocumentFile bounds the file of a document, in bytes.
const maxDocumentFile = 16 << 20

// readFileReference reads the document of {file: PATH}, byte for byte.
func (r *fileReader) readFileReference(location string, fields map[string]any) string {
	path, isText := fields["file"].(string)
	if !isText || path == "" || len(fields) != 1 {
		r.addError(location, "must be a string or {file: PATH}")
		return ""
	}
	text, err := r.sources.readFile(path, maxDocumentFile)
	switch {
	case err != nil:
		r.addError(location, "%v", err)
	case len(text) == 0:
		r.addError(location, "%s is empty", path)
	}
	return string(text)
}

func fetchAPI(ctx context.Context, api *client.Client, slug string) (s APIState, err error) {
	s = APIState{Operations: map[string]client.Operation{}, Endpoints: map[string]client.Endpoint{}}
	if s.Document, err = api.GetDocument(ctx, slug, client.GetDocumentQuery{Text: new(true)}); err != nil {
		return s, err
	}
	for o, err := range api.AllOperations(ctx, slug, client.ListOperationsQuery{Picked: "true", Limit: pageSize}) {
		if err != nil {
			return s, err
		}
		s.Operations[o.Key] = o
	}
	for e, err := range api.AllEndpoints(ctx, slug, client.ListEndpointsQuery{Limit: pageSize}) {
		if err != nil {
			return s, err
		}
		s.Endpoints[e.Name] = e
	}
	return s, nil
}

// movesFrom reports whether the document has another URL than the connector.
func (a *API) movesFrom(url string) bool {
	return a != nil && a.DocumentURL != "" && a.DocumentURL != url
}

// diffDocument adds another document to the patch of a connector, and returns the fields that differ.
func (a *API) diffDocument(have client.DocumentInfo, patch Document) []Field {
	if a.DocumentURL != "" && (have.DocumentURL == nil || *have.DocumentURL != a.DocumentURL) {
		patch["document_url"] = a.DocumentURL
		return []Field{{"document_url", have.DocumentURL, a.DocumentURL}}
	}
	sum := sha256.Sum256([]byte(a.Document))
	if hash := hex.EncodeToString(sum[:]); a.Document != "" && (have.Sha256 == nil || *have.Sha256 != hash) {
		patch["document"] = a.Document
		return []Field{{"document", have.Sha256, hash}}
	}
	return nil
}

// addTo adds the API to a new connector, and returns its fields.
func (a *API) addTo(connector Document) []Field {
	connector["kind"] = kindHTTP
	fields := []Field{{"kind", nil, kindHTTP}}
	if a.DocumentURL != "" {
		connector["document_url"] = a.DocumentURL
		fields = append(fields, Field{"document_url", nil, a.DocumentURL})
	}
	if a.Document != "" {
		connector["document"] = a.Document
		fields = append(fields, Field{"document", nil, fmt.Sprintf("%d bytes", len(a.Document))})
	}
	if len(a.Operations) > 0 {
		connector["operations"] = sortedKeys(a.Operations)
		fields = append(fields, Field{"operations", nil, sortedKeys(a.Operations)})
	}
	endpoints := []Document{}
	for _, name := range sortedKeys(a.Endpoints) {
		endpoints = append(endpoints, withMember(a.Endpoints[name], "name", name))
	}
	if len(endpoints) > 0 {
		connector["endpoints"] = endpoints
		fields = append(fields, Field{"endpoints", nil, sortedKeys(a.Endpoints)})
	}
	return fields
}

func withMember(doc Document, name string, value any) Document {
	out := Document{name: value}
	for name, v := range doc {
		out[name] = v
	}
	return out
}

// planAPI plans the operations and endpoints of an API that is there.
func (p *planner) planAPI(slug string, a *API) error {
	if a == nil {
		return nil
	}
	state := p.state.APIs[slug]
	if a.Operations != nil {
		change := client.OperationChange{}
		for _, key := range sortedKeys(a.Operations) {
			if _, picked := state.Operations[key]; !picked {
				change.Add = append(change.Add, key)
			}
		}
		for _, key := range sortedKeys(state.Operations) {
			if _, wanted := a.Operations[key]; !wanted {
				change.Remove = append(change.Remove, key)
			}
		}
		if err := p.addOperations(slug, a, change, state.Operations); err != nil {
			return err
		}
	}
	if a.Endpoints == nil {
		return nil
	}
	for _, name := range slices.Compact(slices.Sorted(slices.Values(append(sortedKeys(a.Endpoints), sortedKeys(state.Endpoints)...)))) {
		if err := p.planEndpoint(slug, name, a.Endpoints, state.Endpoints); err != nil {
			return err
		}
	}
	return nil
}

// planOperationSettings plans the settings of the operations of a new API.
func (p *planner) planOperationSettings(slug string, a *API) error {
	if a == nil {
		return nil
	}
	return p.addOperations(slug, a, client.OperationChange{}, nil)
}

// addOperations adds the step that changes what is picked and how it is called.
func (p *planner) addOperations(slug string, a *API, change client.OperationChange, have map[string]client.Operation) error {
	var fields []Field
	if len(change.Add)+len(change.Remove) > 0 {
		fields = append(fields, Field{"operations", sortedKeys(have), sortedKeys(a.Operations)})
	}
	for _, key := range sortedKeys(a.Operations) {
		differ := diffFields(toDocument(have[key]), a.Operations[key])
		if len(differ) == 0 {
			continue
		}
		patch, err := decodeDocument[client.OperationPatch](withMember(selectFields(a.Operations[key], differ), "key", key))
		if err != nil {
			return err
		}
		change.Change = append(change.Change, patch)
		for _, f := range differ {
			fields = append(fields, Field{key + " " + f.Name, f.From, f.To})
		}
	}
	if len(fields) > 0 {
		p.add(Step{Change, "operations", slug, fields, func(ctx context.Context, api *client.Client) error {
			return api.PickOperations(ctx, slug, change)
		}})
	}
	return nil
}

func (p *planner) planEndpoint(slug, name string, wanted map[string]Document, have map[string]client.Endpoint) error {
	want, isWanted := wanted[name]
	is, there := have[name]
	label := slug + " " + name
	if !isWanted {
		p.add(Step{Delete, "endpoint", label, nil, func(ctx context.Context, api *client.Client) error {
			return api.DeleteEndpoint(ctx, slug, name)
		}})
		return nil
	}
	if !there {
		create, err := decodeDocument[client.EndpointCreate](withMember(want, "name", name))
		if err != nil {
			return err
		}
		p.add(Step{Create, "endpoint", label, diffFields(nil, want), func(ctx context.Context, api *client.Client) error {
			_, err := api.CreateEndpoint(ctx, slug, create)
			return err
		}})
		return nil
	}
	fields := diffFields(toDocument(is), want)
	if len(fields) == 0 {
		return nil
	}
	patch, err := decodeDocument[client.EndpointPatch](selectFields(want, fields))
	if err != nil {
		return err
	}
	p.add(Step{Change, "endpoint", label, fields, func(ctx context.Context, api *client.Client) error {
		_, err := api.UpdateEndpoint(ctx, slug, name, patch)
		return err
	}})
	return nil
}

// addAPI writes an API into the document of its connector.
func addAPI(doc Document, state APIState) {
	delete(doc, "transport")
	doc["kind"] = kindHTTP
	if url := state.Document.DocumentURL; url != nil {
		delete(doc, "url")
		doc["document_url"] = *url
	} else if text := state.Document.Text; text != nil {
		doc["document"] = *text
	}
	operations := Document{}
	hasSettings := false
	for key, o := range state.Operations {
		settings := pickFields(toDocument(o), []string{"filter", "max_pages", "annotations"})
		operations[key], hasSettings = settings, hasSettings || len(settings) > 0
	}
	switch {
	case hasSettings:
		doc["operations"] = operations
	case len(operations) > 0:
		doc["operations"] = sortedKeys(operations)
	}
	endpoints := Document{}
	for name, e := range state.Endpoints {
		endpoints[name] = pickFields(toDocument(e), []string{
			"title", "description", "method", "url", "headers", "media", "body", "files", "input_schema", "output_schema", "filter", "pages", "annotations",
		})
	}
	if len(endpoints) > 0 {
		doc["endpoints"] = endpoints
	}
}
