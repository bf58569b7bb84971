package api

import (
	"context"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
)

// listeningJSON is how listening to a connector's server is.
type listeningJSON struct {
	State          string     `json:"state" enum:"waiting,listening,off"`
	Since          *time.Time `json:"since" doc:"Null where a setting says so."`
	LastNotifiedAt *time.Time `json:"last_notified_at" doc:"When the server said last that a list had changed."`
	Reason         string     `json:"reason" doc:"Why nobody listens, as a sentence; empty: somebody does, or is about to."`
}

func viewListening(l connectors.Listening) *listeningJSON {
	out := &listeningJSON{State: string(l.State), LastNotifiedAt: utc(l.LastNotifiedAt), Reason: l.Why()}
	if !l.Since.IsZero() {
		out.Since = utc(&l.Since)
	}
	return out
}

// viewing shows connectors with their streams and their breakers.
func (h *Handler) viewing(ctx context.Context, who auth.Actor, all ...connectors.Connector) (func(connectors.Connector) connectorJSON, error) {
	ids := make([]connectors.ConnectorID, len(all))
	for i, c := range all {
		ids[i] = c.ID
	}
	streams, err := h.store.Tenant(who.Tenant.ID).Listenings(ctx, ids...)
	return func(c connectors.Connector) connectorJSON {
		out := viewConnector(c)
		if stream, ok := connectors.ListeningOf(c, streams); ok {
			out.Listening = viewListening(stream)
		}
		out.Breaker = h.viewBreaker(h.calls.Circuit(who.Tenant.ID, c.ID))
		return out
	}, err
}

// connector is the answer that shows one.
func (h *Handler) connector(ctx context.Context, who auth.Actor, c connectors.Connector) (*answer[connectorJSON], error) {
	view, err := h.viewing(ctx, who, c)
	if err != nil {
		return nil, err
	}
	return &answer[connectorJSON]{Body: view(c)}, nil
}

func (h *Handler) listenToConnector(ctx context.Context, who auth.Actor, in *ConnectorPath) (*answer[connectorJSON], error) {
	c, err := h.registry.ListenAgain(ctx, who, in.ref())
	if err != nil {
		return nil, err
	}
	return h.connector(ctx, who, c)
}
