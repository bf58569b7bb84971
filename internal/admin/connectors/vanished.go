package connectors

import (
	"context"
	"net/http"
	"time"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
	"patchbay/web/templates"
)

// acknowledgeTools accepts that tools of a connector are gone.
func (h *Handler) acknowledgeTools(w http.ResponseWriter, r *http.Request) error {
	c, err := h.Registry.AcknowledgeTools(r.Context(), shell.Actor(r), shell.PathRef(r, "id"))
	if err != nil {
		return err
	}
	return h.Respond.Back(w, r, shell.ConnectorPath(c.Slug), respond.Flash{
		Kind: respond.Notice, Text: i18n.T(r.Context(), "Current tools of “%s” accepted.", c.Name),
	})
}

// vanishedAttention says that all or most tools of a connector are gone.
func vanishedAttention(ctx context.Context, c connectors.Connector, can templates.Permissions, now time.Time) []templates.Attention {
	if c.Vanished == nil || !c.Enabled {
		return nil
	}
	a := templates.Attention{
		Kind: templates.StateBad, Title: shell.VanishedText(ctx, *c.Vanished), When: new(shell.NewWhen(ctx, c.Vanished.At, now)),
		Text: i18n.T(ctx, "The server no longer lists them, so agents can't call them."),
	}
	if can.Manage {
		a.Send = &templates.Link{Text: i18n.T(ctx, "Acknowledge"), Href: shell.ConnectorPath(c.Slug) + "/acknowledge_tools"}
	}
	return []templates.Attention{a}
}
