package manage

import (
	"context"
	"crypto/sha256"
	"net/http"
	"slices"

	"patchbay/internal/apitools"
	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/openapi"
	"patchbay/internal/store"
)

// storedAPI is a connector that is an HTTP API, with what is stored of it.
type storedAPI struct {
	connector connectors.Connector
	at        apitools.Addresses
	document  *connectors.APIDocument // nil: it has none
	parsed    *openapi.Document       // nil: it has none
	tools     []connectors.APITool
}

// useAPI reads an API, and calls f with it. The document is read outside of the transaction, in the tenant's turn.
func (r *Registry) useAPI(ctx context.Context, tenant connectors.TenantID, ref connectors.Ref, f func(storedAPI) error) error {
	api, err := r.loadAPI(ctx, tenant, ref)
	if err != nil {
		return err
	}
	return apitools.TakeTurn(ctx, tenant, func() error {
		if err := api.parseDocument(); err != nil {
			return err
		}
		return f(api)
	})
}

// loadAPI reads an API, but does not parse its document.
func (r *Registry) loadAPI(ctx context.Context, tenant connectors.TenantID, ref connectors.Ref) (api storedAPI, err error) {
	err = r.store.Tenant(tenant).Snapshot(ctx, func(tx *store.Tenant) (err error) {
		if api.connector, err = getAPI(ctx, tx, ref); err != nil {
			return err
		}
		api.at = apitools.NewAddresses(api.connector.Settings)
		if api.document, err = orNone(tx.APIs().Document(ctx, api.connector.ID)); err != nil {
			return err
		}
		api.tools, err = tx.APIs().Tools(ctx, api.connector.ID)
		return err
	})
	return api, err
}

// getAPI reads a connector. It fails if it is no HTTP API.
func getAPI(ctx context.Context, tx *store.Tenant, ref connectors.Ref) (connectors.Connector, error) {
	c, err := tx.Connectors().Get(ctx, ref)
	if err == nil {
		err = checkIsAPI(c)
	}
	return c, err
}

func checkIsAPI(c connectors.Connector) error {
	if c.Transport != connectors.TransportAPI {
		return fault.Errorf(fault.Invalid, "%s is an MCP server, which has neither a document nor endpoints.", c.Name)
	}
	return nil
}

// orNone returns nil for a document that is not stored.
func orNone(d connectors.APIDocument, err error) (*connectors.APIDocument, error) {
	if fault.Is(err, fault.NotFound) {
		return nil, nil //nolint:nilnil // that is the answer
	}
	return &d, err
}

func (api *storedAPI) parseDocument() (err error) {
	if api.document != nil {
		api.parsed, err = apitools.Read(api.document.Body, api.at, api.tools)
	}
	return err
}

// isCurrent reports whether an API has still the document, the seen operations and the tools that were read.
func (api storedAPI) isCurrent(ctx context.Context, tx *store.Tenant) (bool, error) {
	info, err := orNone(tx.APIs().DocumentInfo(ctx, api.connector.ID))
	if err != nil {
		return false, err
	}
	tools, err := tx.APIs().Tools(ctx, api.connector.ID)
	same := (info == nil) == (api.document == nil) && (info == nil || info.Hash == api.document.Hash && slices.Equal(info.Seen, api.document.Seen))
	return same && slices.EqualFunc(tools, api.tools, isSameTool), err
}

// APIDocument returns what is stored of an API's document, without its text unless that is asked for. nil: it has none.
func (r *Registry) APIDocument(ctx context.Context, tenant connectors.TenantID, ref connectors.Ref, text bool) (c connectors.Connector, d *connectors.APIDocument, err error) {
	err = r.store.Tenant(tenant).Snapshot(ctx, func(tx *store.Tenant) (err error) {
		if c, err = getAPI(ctx, tx, ref); err != nil {
			return err
		}
		read := tx.APIs().DocumentInfo
		if text {
			read = tx.APIs().Document
		}
		d, err = orNone(read(ctx, c.ID))
		return err
	})
	return c, d, err
}

// readUpload returns an uploaded document as it is stored. It has no other files.
func readUpload(ctx context.Context, a auth.Actor, body []byte) (*connectors.APIDocument, error) {
	if len(body) > connectors.MaxAPIDocument {
		return nil, fault.Errorf(fault.TooLarge, "The document is larger than 16 MiB.")
	}
	err := apitools.TakeTurn(ctx, a.Tenant.ID, func() error {
		_, err := openapi.Bundle(body, "", nil)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &connectors.APIDocument{Body: body, Hash: sha256.Sum256(body), Size: len(body)}, nil
}

// fetchDocument reads the document at a draft's URL.
func (r *Registry) fetchDocument(ctx context.Context, a auth.Actor, d connectors.Draft) (*connectors.APIDocument, error) {
	ctx, cancel := context.WithTimeout(ctx, d.Timeout)
	defer cancel()
	document, err := apitools.Source{Tenant: a.Tenant.ID, Client: r.clientOf(a)}.Fetch(ctx, d.URL, "")
	return document, explainDocument(err)
}

// clientOf returns the client for the addresses of a tenant's APIs.
func (r *Registry) clientOf(a auth.Actor) *http.Client {
	return r.egress.ClientFor(a.Tenant.ID.String())
}

// readNewDocument returns the document that a change of a connector brings; nil: the stored one stays. A new URL of a document that is
// fetched is asked at once, as the stored ETag belongs to the old one.
func (r *Registry) readNewDocument(ctx context.Context, a auth.Actor, old connectors.Connector, d connectors.Draft, change Change) (*connectors.APIDocument, error) {
	if old.Transport != connectors.TransportAPI {
		if change.Document != nil || change.FetchDocument {
			return nil, fault.InvalidFields(fault.Field{Location: "document", Message: "Only an HTTP API has a document."})
		}
		return nil, nil //nolint:nilnil // that is the answer
	}
	next := storedAPI{at: apitools.NewAddresses(d.Settings)}
	var err error
	switch {
	case change.Document != nil:
		next.document, err = readUpload(ctx, a, change.Document)
	case change.FetchDocument:
		next.document, err = r.fetchDocument(ctx, a, d)
	case d.URL != old.URL:
		var stored *connectors.APIDocument
		stored, err = orNone(r.store.Tenant(a.Tenant.ID).APIs().DocumentInfo(ctx, old.ID))
		if err == nil && stored != nil && stored.IsFetched {
			next.document, err = r.fetchDocument(ctx, a, d)
		}
	}
	if err != nil {
		return nil, err
	}
	if err := apitools.TakeTurn(ctx, a.Tenant.ID, next.parseDocument); err != nil || next.document == nil || r.isDryRun {
		return next.document, err
	}
	source := apitools.Source{Tenant: a.Tenant.ID, APIs: r.store.Tenant(a.Tenant.ID).APIs()}
	return next.document, source.NameTools(ctx, old.ID)
}
