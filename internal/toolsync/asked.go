package toolsync

import (
	"cmp"
	"context"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// asked is the entry of whoever asks for a sync, with the connector that it is of; nil: nobody does.
func (r Request) asked(c connectors.Connector) *store.Event {
	if r.Asked == nil {
		return nil
	}
	e := *r.Asked
	e.Target = c.Slug
	e.Detail = map[string]any{"connector_id": c.ID.String()}
	if r.Agent != nil {
		e.Detail["agent"] = string(*r.Agent)
	}
	return &e
}

// recordTest appends that somebody asks for a test, before the server is spoken to. Of the address only the origin is told: the rest may
// be a secret.
func (s *Syncer) recordTest(ctx context.Context, tenant connectors.TenantID, asked *store.Event, d connectors.Draft, stored *connectors.Connector) error {
	if asked == nil {
		return nil
	}
	e := *asked
	e.Target = cmp.Or(d.Slug, d.Name)
	e.Detail = map[string]any{"transport": d.Transport}
	if d.Transport == connectors.TransportStdio {
		e.Detail["command"] = d.Command.Path
	} else {
		e.Detail["origin"] = connectors.Origin(d.URL)
	}
	if stored != nil {
		e.Target, e.Detail["connector_id"] = stored.Slug, stored.ID.String()
	}
	return s.store.Tenant(tenant).Record(ctx, e)
}
