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

// listenings are the streams of connectors.
type listenings map[connectors.ConnectorID]connectors.Listening

func (h *Handler) listenings(ctx context.Context, who auth.Actor, all ...connectors.Connector) (listenings, error) {
	ids := make([]connectors.ConnectorID, len(all))
	for i, c := range all {
		ids[i] = c.ID
	}
	return h.store.Tenant(who.Tenant.ID).Listenings(ctx, ids...)
}

func (l listenings) view(c connectors.Connector) connectorJSON {
	out := viewConnector(c)
	if stream, ok := connectors.ListeningOf(c, l); ok {
		out.Listening = viewListening(stream)
	}
	return out
}

// connector is the answer that shows one.
func (h *Handler) connector(ctx context.Context, who auth.Actor, c connectors.Connector) (*answer[connectorJSON], error) {
	streams, err := h.listenings(ctx, who, c)
	if err != nil {
		return nil, err
	}
	return &answer[connectorJSON]{Body: streams.view(c)}, nil
}

func (h *Handler) listenToConnector(ctx context.Context, who auth.Actor, in *ConnectorPath) (*answer[connectorJSON], error) {
	c, err := h.registry.ListenAgain(ctx, who, in.ref())
	if err != nil {
		return nil, err
	}
	return h.connector(ctx, who, c)
}
