package manage

import (
	"context"
	"encoding/hex"
	"slices"
	"strings"

	"patchbay/internal/apitools"
	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/openapi"
	"patchbay/internal/store"
)

// APIContent is what a new connector to an HTTP API has besides its settings.
type APIContent struct {
	// Document is the uploaded document; nil: the draft's URL is the document's, unless there are endpoints only.
	Document []byte
	// FetchDocument makes the draft's URL the document's, although there are endpoints.
	FetchDocument bool
	// NoDocument makes the draft's URL the address of the API: endpoints follow later.
	NoDocument bool
	Endpoints  []openapi.Endpoint
	Operations []string // picked ones by [openapi.Operation.Key]

	Settings []OperationChange // of picked operations
}

// CreateAPI stores a connector to an HTTP API with its document, operations and endpoints. It starts no sync.
func (r *Registry) CreateAPI(ctx context.Context, a auth.Actor, d connectors.Draft, s connectors.Secret, content APIContent, later bool) (c connectors.Connector, err error) {
	if err := a.Require(connectors.PermManage); err != nil {
		return c, err
	}
	ownSlug := strings.TrimSpace(d.Slug) != ""
	d, s, err = normalizeAPI(d, s, content)
	if err != nil {
		return c, err
	}
	if err := r.checkDraft(d, s, !later); err != nil {
		return c, err
	}
	api := storedAPI{at: apitools.NewAddresses(d.Settings)}
	if api.document, err = r.readDocument(ctx, a, d, content); err != nil {
		return c, err
	}
	var tools []connectors.APITool
	err = apitools.TakeTurn(ctx, a.Tenant.ID, func() (err error) {
		if err = api.parseDocument(); err != nil {
			return err
		}
		if tools, err = r.newTools(api, content); err != nil {
			return err
		}
		setScopes(api.parsed, tools)
		if api.parsed != nil {
			fillFromDocument(&d, api.parsed, content.Operations)
		}
		return nil
	})
	if err != nil {
		return c, err
	}
	if err := r.checkDraft(d, s, !later); err != nil { // with what the document says
		return c, err
	}
	return r.insertWithFreeSlug(ctx, a, d, s, ownSlug, func(tx *store.Tenant, c connectors.Connector) error {
		if api.document != nil {
			if err := tx.APIs().SaveDocument(ctx, c.ID, *api.document); err != nil {
				return err
			}
			if err := tx.APIs().SetSeen(ctx, c.ID, documentKeys(api.parsed)); err != nil {
				return err
			}
		}
		return tx.APIs().SaveTools(ctx, c.ID, tools)
	})
}

// normalizeAPI completes the draft of an HTTP API: endpoints without a document have the address of the first.
func normalizeAPI(d connectors.Draft, s connectors.Secret, content APIContent) (connectors.Draft, connectors.Secret, error) {
	d.Transport = connectors.TransportAPI
	if d.URL == "" && len(content.Endpoints) > 0 {
		tool, err := content.Endpoints[0].Tool()
		if err != nil {
			return d, s, err
		}
		d.URL = tool.Binding.Server
	}
	return d.Normalized(), s.Normalized(), nil
}

// newTools returns what of a new API is a tool at first.
func (r *Registry) newTools(api storedAPI, content APIContent) ([]connectors.APITool, error) {
	change, err := api.planOperations(content.Operations, nil, content.Settings)
	if err != nil {
		return nil, err
	}
	tools := change.save
	for _, e := range content.Endpoints {
		tool, err := r.newEndpointTool(e)
		if err != nil {
			return nil, err
		}
		if err := api.checkFreeName(e.Name, slices.Concat(api.tools, tools)); err != nil {
			return nil, err
		}
		tools = append(tools, tool)
	}
	return tools, checkToolCount(len(tools))
}

func checkToolCount(n int) error {
	if n > connectors.MaxAPITools {
		return fault.Errorf(fault.Invalid, "Pick at most %d operations and endpoints.", connectors.MaxAPITools)
	}
	return nil
}

// checkFreeName refuses the name of an endpoint that another tool of the API has.
func (api storedAPI) checkFreeName(name string, tools []connectors.APITool) error {
	for _, t := range tools {
		o := api.findOperation(t.Key)
		if t.Endpoint != nil && t.Key == name || t.Endpoint == nil && o != nil && o.Name == name {
			return fault.Errorf(fault.Conflict, "A tool named %s already exists.", name)
		}
	}
	return nil
}

// findOperation returns an operation of the document; nil: it has none with this key.
func (api storedAPI) findOperation(key string) *openapi.Operation {
	if api.parsed == nil {
		return nil
	}
	i := slices.IndexFunc(api.parsed.Operations, func(o *openapi.Operation) bool { return o.Key() == key })
	if i < 0 {
		return nil
	}
	return api.parsed.Operations[i]
}

// readDocument returns the document of a new connector; nil: it has none.
func (r *Registry) readDocument(ctx context.Context, a auth.Actor, d connectors.Draft, content APIContent) (*connectors.APIDocument, error) {
	switch {
	case content.Document != nil:
		return readUpload(ctx, a, content.Document)
	case content.fetchesDocument():
		return r.fetchDocument(ctx, a, d)
	}
	return nil, nil //nolint:nilnil // that is the answer
}

// fetchesDocument reports whether the draft's URL is the document's.
func (content APIContent) fetchesDocument() bool {
	return content.Document == nil && !content.NoDocument && (content.FetchDocument || len(content.Endpoints) == 0)
}

// documentKeys returns the keys of all operations.
func documentKeys(d *openapi.Document) []string {
	keys := make([]string, len(d.Operations))
	for i, o := range d.Operations {
		keys[i] = o.Key()
	}
	return keys
}

func keysOf(tools []connectors.APITool) []string {
	keys := make([]string, len(tools))
	for i, t := range tools {
		keys[i] = t.Key
	}
	return keys
}

// describeAPI adds to the record of a new HTTP API what it consists of.
func describeAPI(ctx context.Context, tx *store.Tenant, c connectors.Connector, detail map[string]any) error {
	tools, err := tx.APIs().Tools(ctx, c.ID)
	if err != nil {
		return err
	}
	document, err := orNone(tx.APIs().DocumentInfo(ctx, c.ID))
	if err != nil {
		return err
	}
	detail["tools"] = toolsState(tools)
	describeDocument(document, detail)
	return nil
}

// describeDocument adds the hash of a document to a record. nil: there is none.
func describeDocument(document *connectors.APIDocument, detail map[string]any) {
	if document != nil {
		detail["document_sha256"] = hex.EncodeToString(document.Hash[:])
	}
}

// saveDocument stores a document. nil: the stored one stays.
func saveDocument(ctx context.Context, tx *store.Tenant, id connectors.ConnectorID, document *connectors.APIDocument) error {
	if document == nil {
		return nil
	}
	return tx.APIs().SaveDocument(ctx, id, *document)
}
