package agents

import (
	"net/http"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
)

func (h *Handler) agentSave(w http.ResponseWriter, r *http.Request) error {
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	before, err := h.TenantStore(r).Agents().Get(r.Context(), shell.PathRef(r, "id"))
	if err != nil {
		return err
	}
	changed := before
	changed.Name, changed.Slug, changed.Description = f.Text("name"), f.Text("slug"), f.Text("description")
	changed.Approval, changed.Enabled = connectors.ApprovalMode(f.Text("approval")), f.Checked("enabled")
	changed.NameLimit, changed.CallsPerMinute = f.Number("name_limit", before.NameLimit), f.Number("calls_per_minute", before.CallsPerMinute)
	if changed.Approval == connectors.ApprovalAuto && before.Approval != changed.Approval && !f.IsSure() {
		return h.askNeverAsk(w, r, before)
	}
	a, err := h.Registry.UpdateAgent(r.Context(), shell.Actor(r), changed)
	if problem, ok := shell.AsFormFault(r.Context(), err); ok {
		return h.agentSettingsPage(w, r, respond.Status(problem.Kind), before, f.ToForm(problem))
	}
	if err != nil {
		return err
	}
	return h.Respond.Back(w, r, shell.AgentPath(a.Slug)+"/settings", respond.Flash{Kind: respond.Notice, Text: i18n.T(r.Context(), "Agent saved.")})
}
