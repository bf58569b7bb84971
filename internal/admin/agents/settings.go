package agents

import (
	"net/http"
	"strconv"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/web/templates"
)

func (h *Handler) agentSettings(w http.ResponseWriter, r *http.Request) error {
	a, err := h.TenantStore(r).Agents().Get(r.Context(), shell.PathRef(r, "id"))
	if err != nil {
		return err
	}
	return h.agentSettingsPage(w, r, http.StatusOK, a, agentForm(a))
}

func agentForm(a connectors.Agent) templates.Form {
	values := map[string]string{
		"name": a.Name, "slug": a.Slug, "description": a.Description, "approval": string(a.Approval), "tool_list": string(a.ToolList),
		"name_limit": strconv.Itoa(a.NameLimit), "calls_per_minute": strconv.Itoa(a.CallsPerMinute),
	}
	return templates.Form{Values: values}
}

func (h *Handler) agentSettingsPage(w http.ResponseWriter, r *http.Request, status int, a connectors.Agent, f templates.Form) error {
	return h.Respond.Page(w, r, status, templates.AgentSettings(templates.AgentSettingsPage{
		Frame:     h.agentFrame(r, a, i18n.T(r.Context(), "Settings")),
		Head:      agentHead(r.Context(), a, templates.AgentSettingsTab),
		Form:      f,
		Approvals: shell.ApprovalOptions(r.Context()),
		ToolLists: shell.ToolListOptions(r.Context()),
		Enabled:   a.Enabled,
		Goes:      []string{i18n.T(r.Context(), "tokens, revoked immediately"), i18n.T(r.Context(), "access"), i18n.T(r.Context(), "credentials")},
	}))
}
