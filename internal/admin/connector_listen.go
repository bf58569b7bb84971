package admin

import (
	"context"
	"net/http"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/respond"
	"patchbay/internal/words"
	"patchbay/web/templates"
)

// connectorListen has a server listened to again that misbehaved.
func (h *Handler) connectorListen(w http.ResponseWriter, r *http.Request) error {
	c, err := h.registry.ListenAgain(r.Context(), actor(r), ref(r, "id"))
	if err != nil {
		return err
	}
	return h.respond.Back(w, r, connectorPath(c.Slug), respond.Flash{
		Kind: respond.Notice,
		Text: words.T(r.Context(), "Patchbay listens for changes of '%s' again.", c.Name),
	})
}

// listening is how a connector's server is listened to; ok is false where it does not tell of changes.
func (h *Handler) listening(r *http.Request, c connectors.Connector) (l connectors.Listening, ok bool, err error) {
	streams, err := h.tenant(r).Listenings(r.Context(), c.ID)
	if err != nil {
		return l, false, err
	}
	l, ok = connectors.ListeningOf(c, streams)
	return l, ok, nil
}

// listeningFact is one line about it.
func listeningFact(ctx context.Context, l connectors.Listening, tells bool, now time.Time) templates.Fact {
	label := words.T(ctx, "Listens for changes")
	switch {
	case !tells:
		return templates.Fact{Label: label, Value: words.T(ctx, "no: the server does not tell of them")}
	case l.State == connectors.ListenListening:
		since := when(ctx, l.Since, now)
		return templates.Fact{Label: words.T(ctx, "%s since", label), When: &since}
	case l.State == connectors.ListenIsOff:
		return templates.Fact{Label: label, Value: words.T(ctx, "no. %s", words.Said(ctx, l.Why()))}
	case l.Why() != "":
		return templates.Fact{Label: label, Value: words.T(ctx, "not now. %s", words.Said(ctx, l.Why()))}
	}
	return templates.Fact{Label: label, Value: words.T(ctx, "in a moment")}
}

// listeningAttention says that a server misbehaves.
func listeningAttention(ctx context.Context, c connectors.Connector, l connectors.Listening, can templates.Can, now time.Time) []templates.Attention {
	if l.State != connectors.ListenIsOff || !l.Reason.Misbehaves() {
		return nil
	}
	since := when(ctx, l.Since, now)
	a := templates.Attention{Kind: templates.StateWarn, Title: words.T(ctx, "Changes are not heard of"), Text: words.Said(ctx, l.Why()), When: &since}
	if can.Manage {
		a.Action = &templates.Link{Text: words.T(ctx, "Listen again in the settings"), Href: connectorPath(c.Slug) + "/settings#listening"}
	}
	return []templates.Attention{a}
}
