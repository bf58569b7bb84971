package manage

import (
	"context"

	"patchbay/internal/auth"
	"patchbay/internal/clientconfig"
	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// Export returns the tenant's connectors as a client's configuration, without secrets. An import of a Generic
// export restores them except for credentials.
func (r *Registry) Export(ctx context.Context, a auth.Actor, client clientconfig.Client) (clientconfig.File, error) {
	if err := a.Require(connectors.PermRead); err != nil {
		return clientconfig.File{}, err
	}
	var all []connectors.Connector
	apis := map[connectors.ConnectorID]clientconfig.API{}
	err := r.store.Tenant(a.Tenant.ID).Snapshot(ctx, func(tx *store.Tenant) (err error) {
		if all, err = allConnectors(ctx, tx); err != nil || client != clientconfig.Generic {
			return err
		}
		for _, c := range all {
			if c.Transport != connectors.TransportAPI {
				continue
			}
			if apis[c.ID], err = exportAPI(ctx, tx, c); err != nil {
				return err
			}
		}
		return nil
	})
	return clientconfig.WriteWithAPIs(client, all, apis), err
}

// exportAPI reads what an HTTP API has besides its settings.
func exportAPI(ctx context.Context, tx *store.Tenant, c connectors.Connector) (out clientconfig.API, err error) {
	document, err := orNone(tx.APIs().DocumentInfo(ctx, c.ID))
	if err == nil && document != nil && !document.IsFetched {
		document, err = orNone(tx.APIs().Document(ctx, c.ID))
	}
	if err != nil {
		return out, err
	}
	if document != nil {
		out.IsFetched, out.Document = document.IsFetched, document.Body
	}
	tools, err := tx.APIs().Tools(ctx, c.ID)
	if err != nil {
		return out, err
	}
	for _, t := range tools {
		if t.Endpoint == nil {
			out.Operations = append(out.Operations, t)
			continue
		}
		e, err := readEndpoint(t)
		if err != nil {
			return out, err
		}
		out.Endpoints = append(out.Endpoints, e)
	}
	return out, nil
}
