package manage

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"patchbay/internal/apitools"
	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/openapi"
	"patchbay/internal/openapi/httpcall"
	"patchbay/internal/store"
)

// APIContent is what a new connector to an HTTP API has besides its settings.
type APIContent struct {
	// Document is the uploaded document; nil: the draft's URL is the document's, unless there are endpoints only.
	Document   []byte
	Endpoints  []openapi.Endpoint
	Operations []string // picked ones by [openapi.Operation.Key]
	// NoDocument: the draft's URL is the address of the API, and endpoints follow later.
	NoDocument bool
}

// CreateAPI stores a connector to an HTTP API with its document, operations and endpoints. It starts no sync.
func (r *Registry) CreateAPI(ctx context.Context, a auth.Actor, d connectors.Draft, s connectors.Secret, content APIContent, later bool) (c connectors.Connector, err error) {
	if err := a.Require(connectors.PermManage); err != nil {
		return c, err
	}
	ownSlug := strings.TrimSpace(d.Slug) != ""
	d.Transport = connectors.TransportAPI
	d, s = d.Normalized(), s.Normalized()
	if err := r.checkDraft(d, s, !later); err != nil {
		return c, err
	}
	document, err := r.readDocument(ctx, a, d, content)
	if err != nil {
		return c, err
	}
	tools, err := content.toTools()
	if err != nil {
		return c, err
	}
	read, err := checkOperations(document, d.URL, content.Operations)
	if err != nil {
		return c, err
	}
	setScopes(read, tools)
	if read != nil {
		fillFromDocument(&d, read, content.Operations)
	}
	if err := r.checkDraft(d, s, !later); err != nil { // with what the document says
		return c, err
	}
	return r.insertWithFreeSlug(ctx, a, d, s, ownSlug, func(tx *store.Tenant, c connectors.Connector) error {
		if document != nil {
			if err := tx.APIs().SaveDocument(ctx, c.ID, *document); err != nil {
				return err
			}
			if err := tx.APIs().SetSeen(ctx, c.ID, documentKeys(read)); err != nil {
				return err
			}
		}
		return tx.APIs().SaveTools(ctx, c.ID, tools)
	})
}

// readDocument returns the document of a new connector; nil: it has none.
func (r *Registry) readDocument(ctx context.Context, a auth.Actor, d connectors.Draft, content APIContent) (*connectors.APIDocument, error) {
	switch {
	case len(content.Document) > connectors.MaxAPIDocument:
		return nil, fault.Errorf(fault.TooLarge, "The document is larger than 16 MiB.")
	case content.Document != nil:
		return &connectors.APIDocument{Body: content.Document}, nil
	case len(content.Endpoints) > 0, content.NoDocument:
		return nil, nil //nolint:nilnil // that is the answer
	}
	ctx, cancel := context.WithTimeout(ctx, d.Timeout)
	defer cancel()
	document, err := apitools.Source{Client: r.clientOf(a)}.Fetch(ctx, d.URL, "")
	return document, explainDocument(err)
}

// clientOf returns the client for the addresses of a tenant's APIs.
func (r *Registry) clientOf(a auth.Actor) *http.Client {
	return r.egress.ClientFor(a.Tenant.ID.String())
}

// toTools returns what is a tool at first.
func (content APIContent) toTools() ([]connectors.APITool, error) {
	if n := len(content.Operations) + len(content.Endpoints); n > connectors.MaxAPITools {
		return nil, fault.Errorf(fault.Invalid, "Pick at most %d operations and endpoints.", connectors.MaxAPITools)
	}
	var tools []connectors.APITool
	for _, key := range content.Operations {
		tools = append(tools, connectors.APITool{Key: key})
	}
	for _, e := range content.Endpoints {
		tool, err := endpointTool(e)
		if err != nil {
			return nil, err
		}
		tools = append(tools, tool)
	}
	return tools, nil
}

// endpointTool returns a valid endpoint as it is stored.
func endpointTool(e openapi.Endpoint) (connectors.APITool, error) {
	if _, err := e.Tool(); err != nil {
		return connectors.APITool{}, err
	}
	if e.Filter != "" {
		if _, err := httpcall.CompileFilter(e.Filter); err != nil {
			return connectors.APITool{}, err
		}
	}
	text, err := json.Marshal(e)
	return connectors.APITool{Key: e.Name, Endpoint: text}, err
}

// documentKeys returns the keys of all operations.
func documentKeys(d *openapi.Document) []string {
	keys := make([]string, len(d.Operations))
	for i, o := range d.Operations {
		keys[i] = o.Key()
	}
	return keys
}

// checkOperations reads a document, and refuses operations that it does not have; nil: there is no document.
func checkOperations(document *connectors.APIDocument, address string, keys []string) (*openapi.Document, error) {
	if document == nil {
		if len(keys) > 0 {
			return nil, fault.Errorf(fault.Invalid, "There is no document to pick operations of.")
		}
		return nil, nil //nolint:nilnil // that is the answer
	}
	d, err := apitools.Read(document.Body, address)
	if err != nil {
		return nil, err
	}
	for _, key := range keys {
		if !slices.ContainsFunc(d.Operations, func(o *openapi.Operation) bool { return o.Key() == key }) {
			return nil, fault.Errorf(fault.Invalid, "The document has no operation %q.", key)
		}
	}
	return d, nil
}

// APIOperation is an operation that can be a tool.
type APIOperation struct {
	*openapi.Operation
	Picked  bool
	Tool    *openapi.Tool // nil: it cannot be a tool
	Problem string        // why not
}

// readAPI reads the document and the tools of a connector.
func (r *Registry) readAPI(ctx context.Context, tenant connectors.TenantID, ref connectors.Ref) (c connectors.Connector, d *openapi.Document, tools []connectors.APITool, err error) {
	var document connectors.APIDocument
	err = r.store.Tenant(tenant).Snapshot(ctx, func(tx *store.Tenant) (err error) {
		if c, err = tx.Connectors().Get(ctx, ref); err != nil {
			return err
		}
		if document, err = tx.APIs().Document(ctx, c.ID); err != nil {
			return err
		}
		tools, err = tx.APIs().Tools(ctx, c.ID)
		return err
	})
	if err != nil {
		return c, nil, nil, err
	}
	d, err = apitools.Read(document.Body, c.URL)
	return c, d, tools, err
}

// Operations lists the operations of a connector's document, in its order.
func (r *Registry) Operations(ctx context.Context, tenant connectors.TenantID, ref connectors.Ref) (c connectors.Connector, all []APIOperation, err error) {
	c, d, tools, err := r.readAPI(ctx, tenant, ref)
	if err != nil {
		return c, nil, err
	}
	for _, o := range d.Operations {
		op := APIOperation{Operation: o, Picked: slices.ContainsFunc(tools, func(t connectors.APITool) bool { return t.Endpoint == nil && t.Key == o.Key() })}
		if op.Tool, err = d.Tool(o); err != nil {
			op.Problem = fault.As(err).Message
		}
		all = append(all, op)
	}
	return c, all, nil
}

// PickOperations makes operations of the document tools, and ends others. Agents get them with the next sync.
func (r *Registry) PickOperations(ctx context.Context, a auth.Actor, ref connectors.Ref, add, remove []string) error {
	if err := a.Require(connectors.PermManage); err != nil {
		return err
	}
	return r.tx(ctx, a, func(tx *store.Tenant) error {
		c, err := tx.Connectors().Get(ctx, ref)
		if err != nil {
			return err
		}
		if c.Transport != connectors.TransportAPI {
			return fault.Errorf(fault.Invalid, "%s is an MCP server. Its tools aren't picked here.", c.Name)
		}
		before, err := tx.APIs().Tools(ctx, c.ID)
		if err != nil {
			return err
		}
		var document *connectors.APIDocument
		if len(add) > 0 {
			stored, err := tx.APIs().Document(ctx, c.ID)
			if err != nil {
				return err
			}
			document = &stored
		}
		read, err := checkOperations(document, c.URL, add)
		if err != nil {
			return err
		}
		if len(before)+len(add) > connectors.MaxAPITools {
			return fault.Errorf(fault.Invalid, "Pick at most %d operations and endpoints.", connectors.MaxAPITools)
		}
		tools := make([]connectors.APITool, len(add))
		for i, key := range add {
			tools[i].Key = key
		}
		setScopes(read, tools)
		if err := tx.APIs().SaveTools(ctx, c.ID, tools); err != nil {
			return err
		}
		if _, err := tx.APIs().RemoveTools(ctx, c.ID, remove); err != nil {
			return err
		}
		e := a.Event("connector.update", c.Slug)
		e.Detail = map[string]any{"connector_id": c.ID.String()}
		e.Before, e.After = store.State{"operations": keysOf(before)}, store.State{"operations": pickedKeys(before, add, remove)}
		return tx.Audit().Record(ctx, e)
	})
}

func keysOf(tools []connectors.APITool) []string {
	keys := make([]string, len(tools))
	for i, t := range tools {
		keys[i] = t.Key
	}
	return keys
}

func pickedKeys(before []connectors.APITool, add, remove []string) []string {
	keys := append(slices.DeleteFunc(keysOf(before), func(key string) bool { return slices.Contains(remove, key) }), add...)
	slices.Sort(keys)
	return slices.Compact(keys)
}
