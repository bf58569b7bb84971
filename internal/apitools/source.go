package apitools

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/jsonschema"
	"patchbay/internal/mcp"
	"patchbay/internal/openapi"
	"patchbay/internal/store"
)

// maxRedirects bounds the redirects to a document.
const maxRedirects = 5

// Source reads the documents of a tenant's APIs.
type Source struct {
	Tenant connectors.TenantID
	APIs   store.APIs
	// Client applies the egress rules. It must not follow redirects.
	Client *http.Client
	Cache  *Cache // nil: none
}

// Tools reads the document of a connector anew, stores it if it changed, and makes the connector's tools. An unchanged document
// is not parsed again. The error is a fault with a sentence.
func (s Source) Tools(ctx context.Context, c connectors.Connector) ([]openapi.Tool, error) {
	document, err := s.Refresh(ctx, c)
	if err != nil {
		return nil, err
	}
	picked, err := s.APIs.Tools(ctx, c.ID)
	if err != nil {
		return nil, err
	}
	at := NewAddresses(c.Settings)
	key := newCacheKey(document.Hash, at, picked)
	if tools, ok := s.Cache.findTools(c.ID, key); ok {
		return tools, nil
	}
	if document.Body == nil && document.Size > 0 {
		if document, err = s.APIs.Document(ctx, c.ID); err != nil {
			return nil, err
		}
		key = newCacheKey(document.Hash, at, picked)
	}
	var tools []openapi.Tool
	err = TakeTurn(ctx, s.Tenant, func() (err error) {
		tools, err = MakeTools(ctx, document.Body, at, picked)
		return err
	})
	if err != nil {
		return nil, err
	}
	return s.Cache.addTools(c.ID, key, tools), nil
}

// Refresh asks for the document of a connector, and stores it if it changed. The result has no body if the document is as it
// was. It is zero if there is none.
func (s Source) Refresh(ctx context.Context, c connectors.Connector) (connectors.APIDocument, error) {
	stored, err := s.APIs.DocumentInfo(ctx, c.ID)
	switch {
	case fault.Is(err, fault.NotFound): // all tools are endpoints
		return connectors.APIDocument{}, nil
	case err != nil, !stored.IsFetched:
		return stored, err
	}
	fetched, err := s.Fetch(ctx, c.URL, stored.ETag)
	if err != nil || fetched == nil || fetched.Hash == stored.Hash && fetched.ETag == stored.ETag {
		return stored, err
	}
	if fetched.Hash != stored.Hash {
		if err := s.NameTools(ctx, c.ID); err != nil {
			return stored, err
		}
	}
	err = s.APIs.RefreshDocument(ctx, c.ID, stored.Hash, *fetched)
	if fault.Is(err, fault.NotFound) {
		return s.APIs.DocumentInfo(ctx, c.ID) // what a person stored meanwhile
	}
	return *fetched, err
}

// NameTools stores the names of picked operations that have none yet, as the stored document gives them. It is called before
// another document replaces that one.
func (s Source) NameTools(ctx context.Context, id connectors.ConnectorID) error {
	picked, err := s.APIs.Tools(ctx, id)
	if err != nil || !slices.ContainsFunc(picked, func(t connectors.APITool) bool { return t.Endpoint == nil && t.Name == "" }) {
		return err
	}
	document, err := s.APIs.Document(ctx, id)
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	names := map[string]string{}
	err = TakeTurn(ctx, s.Tenant, func() error {
		d, err := Read(document.Body, Addresses{}, picked)
		if err != nil {
			return nil //nolint:nilerr // a document that cannot be read gives no names
		}
		for _, o := range d.Operations {
			names[o.Key()] = o.Name
		}
		return nil
	})
	if err != nil {
		return err
	}
	maps.DeleteFunc(names, func(key, _ string) bool {
		return !slices.ContainsFunc(picked, func(t connectors.APITool) bool { return t.Key == key })
	})
	return s.APIs.NameTools(ctx, id, names)
}

// Fetch asks for a document; nil: it has still this ETag. Files that its references lead to become a part of it. It has no ETag then,
// as that would say nothing of the files. A document with files takes a turn.
func (s Source) Fetch(ctx context.Context, address, etag string) (*connectors.APIDocument, error) {
	main, err := s.fetchFile(ctx, address, etag, false)
	if err != nil || main == nil {
		return nil, err
	}
	body, isBundle := main.body, openapi.MayHaveFiles(main.body)
	if isBundle {
		err = takeBundle(ctx, s.Tenant, func(ctx context.Context) (err error) {
			body, isBundle, err = s.bundleFiles(ctx, main)
			return err
		})
	}
	if err != nil {
		return nil, err
	}
	document := &connectors.APIDocument{IsFetched: true, ETag: main.etag, Body: body, Hash: sha256.Sum256(body), Size: len(body)}
	if isBundle {
		document.ETag = ""
	}
	return document, nil
}

// bundleFiles returns a document with the files that its references lead to, and reports whether it has any. It takes a turn, but for the
// time of the requests.
func (s Source) bundleFiles(ctx context.Context, main *fetchedFile) (body []byte, isBundle bool, err error) {
	err = TakeTurn(ctx, s.Tenant, func() (err error) {
		body, err = openapi.Bundle(main.body, main.address, func(at string) (text []byte, from string, err error) {
			isBundle = true
			err = leaveTurn(ctx, s.Tenant, func() error {
				file, err := s.fetchFile(ctx, at, "", true)
				if err == nil {
					text, from = file.body, file.address
				}
				return err
			})
			return text, from, err
		})
		return err
	})
	return body, isBundle, err
}

// fetchedFile is a document or one of its files.
type fetchedFile struct {
	body    []byte
	address string // after redirects
	etag    string
}

// fetchFile asks for a file; nil: it has still this ETag. sameOrigin refuses redirects to other origins.
func (s Source) fetchFile(ctx context.Context, address, etag string, sameOrigin bool) (*fetchedFile, error) {
	for range maxRedirects {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if err != nil {
			return nil, fault.Wrap(fault.Invalid, err, "The document's URL isn't valid.")
		}
		r.Header.Set("Accept", "application/json, application/yaml, application/vnd.oai.openapi+json, text/yaml, */*;q=0.1")
		if etag != "" {
			r.Header.Set("If-None-Match", etag)
		}
		answer, err := s.Client.Do(r)
		if err != nil {
			return nil, fmt.Errorf("read an API's document: %w", err)
		}
		body, err := io.ReadAll(io.LimitReader(answer.Body, connectors.MaxAPIDocument+1))
		_ = answer.Body.Close()
		switch {
		case answer.StatusCode == http.StatusNotModified && etag != "":
			return nil, nil //nolint:nilnil // that is the answer
		case answer.StatusCode >= 300 && answer.StatusCode < 400 && answer.Header.Get("Location") != "":
			next, err := r.URL.Parse(answer.Header.Get("Location"))
			if err != nil || r.URL.Scheme == "https" && next.Scheme != "https" || sameOrigin && !openapi.IsSameOrigin(next, r.URL) {
				return nil, fault.Errorf(fault.Upstream, "The document's URL redirects to one that isn't allowed.")
			}
			address, etag = next.String(), ""
			continue
		case answer.StatusCode != http.StatusOK:
			return nil, statusError(answer.StatusCode)
		case err != nil:
			return nil, fmt.Errorf("read an API's document: %w", err)
		case len(body) > connectors.MaxAPIDocument:
			return nil, fault.Errorf(fault.TooLarge, "The document is larger than 16 MiB.")
		}
		return &fetchedFile{body: body, address: address, etag: keepETag(answer.Header.Get("ETag"))}, nil
	}
	return nil, fault.Errorf(fault.Upstream, "The document's URL redirects too many times.")
}

// statusError says which status came in place of a document.
func statusError(status int) error {
	f := fault.Errorf(fault.Upstream, "The document can't be read: its server answered %d.", status)
	f.Code, f.Remote = string(mcp.ReasonHTTPStatus), &fault.Remote{Phase: "document", HTTPStatus: status, Retryable: status == http.StatusTooManyRequests || status >= 500}
	if status == http.StatusUnauthorized || status == http.StatusForbidden {
		f.Code = string(mcp.ReasonUnauthorized)
		f.Message = fmt.Sprintf("The document's server requires authentication (%d). Paste or upload the document instead.", status)
	}
	return f
}

// keepETag returns an ETag that fits into its column.
func keepETag(etag string) string {
	if len(etag) > 1024 {
		return ""
	}
	return etag
}

// Addresses say where an API is.
type Addresses struct {
	Document string // where the document came from, or the address of the API if a person uploaded it
	Server   string // that a person set; empty: the document says it
}

// NewAddresses returns the addresses of a connector.
func NewAddresses(s connectors.Settings) Addresses { return Addresses{s.URL, s.ServerURL} }

// Read reads a document. Picked operations keep their names.
func Read(document []byte, at Addresses, picked []connectors.APITool) (*openapi.Document, error) {
	return openapi.Read(document, openapi.Options{URL: at.Document, Server: at.Server, Names: Names(picked)})
}

// Names returns the stored names of picked operations, by key.
func Names(picked []connectors.APITool) map[string]string {
	names := map[string]string{}
	for _, p := range picked {
		if p.Endpoint == nil && p.Name != "" {
			names[p.Key] = p.Name
		}
	}
	return names
}

// MakeTools makes the tools of picked operations and of endpoints. document may be nil. An operation that the document no longer
// has is left out, as a server leaves out a tool.
func MakeTools(ctx context.Context, document []byte, at Addresses, picked []connectors.APITool) ([]openapi.Tool, error) {
	var tools []openapi.Tool
	wanted := map[string]connectors.APITool{}
	for _, p := range picked {
		if p.Endpoint == nil {
			wanted[p.Key] = p
			continue
		}
		tool, err := makeEndpoint(p)
		if err != nil {
			return nil, err
		}
		tools = append(tools, *tool)
	}
	if document == nil || len(wanted) == 0 {
		return tools, nil
	}
	d, err := Read(document, at, picked)
	if err != nil {
		return nil, err
	}
	for _, o := range d.Operations {
		p, isWanted := wanted[o.Key()]
		if !isWanted {
			continue
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		o.Annotations = p.Annotations
		tool, err := d.Tool(o)
		if err != nil {
			continue // the page of operations says why
		}
		if tool.Binding.Filter = p.Filter; p.Filter != "" { // the schema of the document is that of the whole answer
			tool.Binding.Result, tool.Definition = "", dropOutput(tool.Definition)
		}
		if tool.Binding.Pages = d.ProposePages(o, tool.Binding); tool.Binding.Pages != nil {
			if tool.Binding.Pages.Max = p.MaxPages; p.MaxPages < 2 {
				tool.Binding.Pages = nil
			}
		}
		tools = append(tools, *tool)
	}
	return tools, nil
}

// dropOutput returns a definition without the schema of the answer.
func dropOutput(definition json.RawMessage) json.RawMessage {
	root, _ := jsonschema.Decode(definition, jsonschema.Limits{})
	root.Drop("outputSchema")
	return root.AppendTo(nil)
}

func makeEndpoint(p connectors.APITool) (*openapi.Tool, error) {
	var e openapi.Endpoint
	if err := json.Unmarshal(p.Endpoint, &e); err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "The endpoint isn't valid.")
	}
	return e.Tool()
}
