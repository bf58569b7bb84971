package toolsync

import (
	"cmp"
	"context"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// auditEvent returns the audit entry of the request, with its connector; nil: the request is not audited.
func (r Request) auditEvent(c connectors.Connector) *store.Event {
	if r.AuditEvent == nil {
		return nil
	}
	e := *r.AuditEvent
	e.Target = c.Slug
	e.Detail = map[string]any{"connector_id": c.ID.String()}
	if r.Agent != nil {
		e.Detail["agent"] = string(*r.Agent)
	}
	return &e
}

// recordTest audits a connection test before the server is called. Of the URL only the origin is stored: the
// rest may be a secret.
func (s *Syncer) recordTest(ctx context.Context, tenant connectors.TenantID, auditEvent *store.Event, d connectors.Draft, stored *connectors.Connector) error {
	if auditEvent == nil {
		return nil
	}
	e := *auditEvent
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
	return s.store.Tenant(tenant).Audit().Record(ctx, e)
}
