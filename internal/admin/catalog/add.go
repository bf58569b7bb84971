package catalog

import (
	"context"
	"net/http"

	"patchbay/internal/admin/shell"
	"patchbay/internal/catalog"
	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
)

// catalogAdd creates a connector from a catalog entry and leads to its next step.
func (h *Handler) catalogAdd(w http.ResponseWriter, r *http.Request) error {
	c, e, err := h.Registry.AddOffer(r.Context(), shell.Actor(r), shell.PathValue(r, "slug"))
	if problem, ok := shell.AsFormFault(r.Context(), err); ok {
		return h.Respond.Back(w, r, "/catalog", respond.Flash{Kind: respond.Alert, Text: problem.Message})
	}
	if err != nil {
		return err
	}
	if c.Transport == connectors.TransportAPI {
		return h.Respond.Back(w, r, shell.ConnectorPath(c.Slug)+"/operations", respond.Flash{Kind: respond.Notice, Text: i18n.T(r.Context(), "Added “%s”. %s", c.Name, i18n.T(r.Context(), "Pick operations, then set its credential."))})
	}
	if c.Auth.Type == connectors.AuthNone && !e.OwnClient {
		return h.ConnectorPages.StartConnector(w, r, c)
	}
	to, next := nextStepAfterAdd(r.Context(), c, e)
	return h.Respond.Back(w, r, to, respond.Flash{Kind: respond.Notice, Text: i18n.T(r.Context(), "Added “%s”. %s", c.Name, next)})
}

// nextStepAfterAdd is the page where a new connector gets what it lacks, and a sentence about it.
func nextStepAfterAdd(ctx context.Context, c connectors.Connector, e catalog.Entry) (to, next string) {
	switch {
	case e.OwnClient:
		return shell.ConnectorPath(c.Slug) + "/settings", e.Note
	case c.Auth.Type == connectors.AuthOAuth2:
		return shell.CredentialsPath(c.Slug), i18n.T(ctx, "Connect it.")
	case e.Note != "":
		return shell.CredentialsPath(c.Slug), i18n.T(ctx, "Set its credential.") + " " + e.Note
	default:
		return shell.CredentialsPath(c.Slug), i18n.T(ctx, "Set its credential.")
	}
}
