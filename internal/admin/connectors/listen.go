package connectors

import (
	"context"
	"net/http"
	"time"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

// connectorListen resumes listening to a server that misbehaved.
func (h *Handler) connectorListen(w http.ResponseWriter, r *http.Request) error {
	c, err := h.Registry.ListenAgain(r.Context(), shell.Actor(r), shell.PathRef(r, "id"))
	if err != nil {
		return err
	}
	return h.Respond.Back(w, r, shell.ConnectorPath(c.Slug), respond.Flash{
		Kind: respond.Notice,
		Text: i18n.T(r.Context(), "Listening to “%s” again.", c.Name),
	})
}

// listeningState returns the state of listening to a connector's server; ok is false if the server does not
// announce changes.
func listeningState(ctx context.Context, tenant store.Syncs, c connectors.Connector) (l connectors.Listening, ok bool, err error) {
	streams, err := tenant.Listenings(ctx, c.ID)
	if err != nil {
		return l, false, err
	}
	l, ok = connectors.ListeningOf(c, streams)
	return l, ok, nil
}

func listeningFact(ctx context.Context, l connectors.Listening, supported bool, now time.Time) templates.Fact {
	label := i18n.T(ctx, "Listening for changes")
	switch {
	case !supported:
		return templates.Fact{Label: label, Value: i18n.T(ctx, "not supported")}
	case l.State == connectors.ListenListening:
		since := shell.NewWhen(ctx, l.Since, now)
		return templates.Fact{Label: i18n.T(ctx, "%s since", label), When: &since}
	case l.State == connectors.ListenStateOff:
		return templates.Fact{Label: label, Value: i18n.T(ctx, "no. %s", i18n.TranslateKnown(ctx, l.Why()))}
	case l.Why() != "":
		return templates.Fact{Label: label, Value: i18n.T(ctx, "paused. %s", i18n.TranslateKnown(ctx, l.Why()))}
	}
	return templates.Fact{Label: label, Value: i18n.T(ctx, "starting")}
}

// listeningAttention says that listening was suspended because the server misbehaved.
func listeningAttention(ctx context.Context, c connectors.Connector, l connectors.Listening, can templates.Permissions, now time.Time) []templates.Attention {
	if l.State != connectors.ListenStateOff || !l.Reason.Misbehaves() {
		return nil
	}
	since := shell.NewWhen(ctx, l.Since, now)
	a := templates.Attention{Kind: templates.StateWarn, Title: i18n.T(ctx, "Listening suspended"), Text: i18n.TranslateKnown(ctx, l.Why()), When: &since}
	if can.Manage {
		a.Action = &templates.Link{Text: i18n.T(ctx, "Resume in settings"), Href: shell.ConnectorPath(c.Slug) + "/settings#listening"}
	}
	return []templates.Attention{a}
}
