package admin

import (
	"net/http"

	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
)

func (h *Handler) agentSave(w http.ResponseWriter, r *http.Request) error {
	f, err := readForm(r)
	if err != nil {
		return err
	}
	before, err := h.tenantStore(r).Agent(r.Context(), pathRef(r, "id"))
	if err != nil {
		return err
	}
	changed := before
	changed.Name, changed.Slug, changed.Description = f.text("name"), f.text("slug"), f.text("description")
	changed.Approval, changed.Enabled = connectors.ApprovalMode(f.text("approval")), f.checked("enabled")
	changed.NameLimit, changed.CallsPerMinute = f.number("name_limit", before.NameLimit), f.number("calls_per_minute", before.CallsPerMinute)
	a, err := h.registry.UpdateAgent(r.Context(), actor(r), changed)
	if problem, ok := asFormFault(r.Context(), err); ok {
		return h.agentSettingsPage(w, r, respond.Status(problem.Kind), before, f.toForm(problem))
	}
	if err != nil {
		return err
	}
	return h.respond.Back(w, r, agentPath(a.Slug)+"/settings", respond.Flash{Kind: respond.Notice, Text: i18n.T(r.Context(), "The agent is saved.")})
}
