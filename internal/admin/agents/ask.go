package agents

import (
	"net/http"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/web/templates"
)

// askNeverAsk asks before an agent's calls run without approval.
func (h *Handler) askNeverAsk(w http.ResponseWriter, r *http.Request, a connectors.Agent) error {
	ctx := r.Context()
	return h.AskPage(w, r, templates.AskPage{
		Title: i18n.T(ctx, "Never ask for %s?", a.Name),
		Text:  i18n.T(ctx, "Every call of this agent will run without approval, destructive tools included. Connectors with their own approval mode keep it."),
		Yes:   i18n.T(ctx, "Never ask"),
	})
}

// askBroadGrant asks before a grant that reaches far; asked is false if it does not, or the person is sure.
func (h *Handler) askBroadGrant(w http.ResponseWriter, r *http.Request, f shell.PostedForm, g grantState, grant connectors.Grant) (asked bool, err error) {
	if f.IsSure() {
		return false, nil
	}
	ctx := r.Context()
	before := new(g.grant.At(h.Now())) // to grant again what has ended is to grant it
	if !g.exists {
		before = nil
	}
	var destructive []string
	broad := grant.At(h.Now()).BroadenedFrom(before, g.agent.Approval)
	if broad.AllTools {
		tools, err := h.TenantStore(r).Agents().DestructiveTools(ctx, []connectors.ConnectorID{g.connector.ID})
		if err != nil {
			return false, err
		}
		for _, t := range tools {
			destructive = append(destructive, shell.CleanText(t.Tool))
		}
	}
	page := templates.AskPage{Yes: i18n.T(ctx, "Grant access")}
	switch {
	case len(destructive) > 0:
		page.Title = i18n.T(ctx, "Grant “%s” all tools of “%s”?", g.agent.Name, g.connector.Name)
		page.Text = i18n.N(ctx, len(destructive), "%s of them is destructive. New tools are included as they appear.", "%s of them are destructive. New tools are included as they appear.")
		page.Lists = []templates.AskList{{Label: i18n.T(ctx, "Destructive"), Items: shell.ShortenAsked(r, destructive)}}
		if broad.NeverAsks {
			page.Text += " " + i18n.T(ctx, "Calls run without approval.")
		}
	case broad.NeverAsks:
		page.Title = i18n.T(ctx, "Never ask for “%s” on “%s”?", g.agent.Name, g.connector.Name)
		page.Text = i18n.T(ctx, "Calls of these tools will run without approval, destructive ones included.")
	default:
		return false, nil
	}
	return true, h.AskPage(w, r, page)
}
