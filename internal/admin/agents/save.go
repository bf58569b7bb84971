package agents

import (
	"net/http"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
)

// agentSave changes an agent. A missing field keeps its value: the control that enables sends its own alone.
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
	for name, to := range map[string]*string{"name": &changed.Name, "slug": &changed.Slug, "description": &changed.Description, "approval": (*string)(&changed.Approval), "tool_list": (*string)(&changed.ToolList)} {
		if f.Values.Has(name) {
			*to = f.Text(name)
		}
	}
	if f.Values.Has("enabled") {
		changed.Enabled = f.Checked("enabled")
	}
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
	flash := respond.Flash{Kind: respond.Notice, Text: i18n.T(r.Context(), "Agent saved.")}
	if !f.Values.Has("name") {
		flash = shell.EnabledFlash(r.Context(), a.Name, a.Enabled, shell.AgentPath(a.Slug))
	}
	return h.Respond.Back(w, r, shell.AgentPath(a.Slug)+"/settings", flash)
}
