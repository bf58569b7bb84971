package admin

import (
	"net/http"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

// agentShow shows an agent and the form that changes it.
func (h *Handler) agentShow(w http.ResponseWriter, r *http.Request) error {
	a, err := h.tenant(r).Agent(r.Context(), ref(r, "id"))
	if err != nil {
		return err
	}
	return h.agentPage(w, r, http.StatusOK, a, agentForm(a))
}

func agentForm(a connectors.Agent) templates.Form {
	values := map[string]string{"name": a.Name, "slug": a.Slug, "description": a.Description}
	if a.Enabled {
		values["enabled"] = "true"
	}
	return templates.Form{Values: values}
}

func (h *Handler) agentPage(w http.ResponseWriter, r *http.Request, status int, a connectors.Agent, f templates.Form) error {
	held, err := h.tenant(r).AgentCredentials(r.Context(), a.ID)
	if err != nil {
		return err
	}
	created, updated := when(a.CreatedAt, h.now()), when(a.UpdatedAt, h.now())
	return h.respond.Page(w, r, status, templates.Agent(templates.AgentPage{
		Frame: h.frame(r, templates.NavAgents, crumb("Agents", "/agents"), crumb(a.Name, "")),
		Name:  a.Name,
		Href:  agentPath(a.Slug),
		State: agentState(a),
		Facts: []templates.Fact{
			{Label: "Slug", Value: a.Slug, Mono: true, Copy: true},
			{Label: "ID", Value: a.ID.String(), Mono: true, Copy: true},
			{Label: "Added", When: &created},
			{Label: "Changed", When: &updated},
		},
		Form:        f,
		Credentials: agentCredentials(a, held),
		Goes:        []string{"its credentials"},
	}))
}

// agentCredentials say where an agent can sign in.
func agentCredentials(a connectors.Agent, held []store.AgentCredential) []templates.AgentCredential {
	rows := make([]templates.AgentCredential, len(held))
	for i, c := range held {
		rows[i] = templates.AgentCredential{
			Connector: c.ConnectorName,
			Href:      accountPath(c.ConnectorSlug, a.Slug),
			State:     credentialState(c.AuthType, c.Status),
		}
	}
	return rows
}
