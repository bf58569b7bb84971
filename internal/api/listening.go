package api

import (
	"context"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// listeningJSON is the state of listening to a connector's server.
type listeningJSON struct {
	State          string     `json:"state" enum:"waiting,listening,off"`
	Since          *time.Time `json:"since" doc:"Null if set by a setting."`
	LastNotifiedAt *time.Time `json:"last_notified_at" doc:"When the server last announced a list change."`
	Reason         string     `json:"reason" doc:"Why no process is listening. Empty if one is, or soon will be."`
}

func viewListening(l connectors.Listening) *listeningJSON {
	out := &listeningJSON{State: string(l.State), LastNotifiedAt: toUTC(l.LastNotifiedAt), Reason: l.Why()}
	if !l.Since.IsZero() {
		out.Since = toUTC(&l.Since)
	}
	return out
}

// newConnectorView returns the view of connectors with their listening states, icons and breakers.
func (h *Handler) newConnectorView(ctx context.Context, tenant *store.Tenant, actor auth.Actor, all ...connectors.Connector) (func(connectors.Connector) connectorJSON, error) {
	ids := make([]connectors.ConnectorID, len(all))
	for i, c := range all {
		ids[i] = c.ID
	}
	var streams map[connectors.ConnectorID]connectors.Listening
	var icons map[connectors.ConnectorID]connectors.Icon
	err := tenant.Snapshot(ctx, func(tx *store.Tenant) (err error) {
		if streams, err = tx.Syncs().Listenings(ctx, ids...); err != nil {
			return err
		}
		icons, err = tx.Connectors().Icons(ctx, all)
		return err
	})
	return func(c connectors.Connector) connectorJSON {
		out := viewConnector(c)
		if stream, ok := connectors.ListeningOf(c, streams); ok {
			out.Listening = viewListening(stream)
		}
		if icon, ok := icons[c.ID]; ok {
			out.Icon = new(icon.DataURL())
		}
		out.Breaker = h.viewBreaker(h.calls.Circuit(actor.Tenant.ID, c.ID))
		return out
	}, err
}

func (h *Handler) connectorResponse(ctx context.Context, tenant *store.Tenant, actor auth.Actor, c connectors.Connector) (*response[connectorJSON], error) {
	view, err := h.newConnectorView(ctx, tenant, actor, c)
	if err != nil {
		return nil, err
	}
	return &response[connectorJSON]{Body: view(c)}, nil
}

func (h *Handler) acknowledgeTools(ctx context.Context, actor auth.Actor, in *ConnectorPath) (*response[connectorJSON], error) {
	c, err := h.registry.AcknowledgeTools(ctx, actor, in.ref())
	if err != nil {
		return nil, err
	}
	return h.connectorResponse(ctx, h.store.Tenant(actor.Tenant.ID), actor, c)
}

func (h *Handler) listenToConnector(ctx context.Context, actor auth.Actor, in *ConnectorPath) (*response[connectorJSON], error) {
	c, err := h.registry.ListenAgain(ctx, actor, in.ref())
	if err != nil {
		return nil, err
	}
	return h.connectorResponse(ctx, h.store.Tenant(actor.Tenant.ID), actor, c)
}
