package admin

import (
	"net/http"
	"slices"

	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
	"patchbay/internal/store"
)

// grantSave grants an agent a connector, or changes the grant.
func (h *Handler) grantSave(w http.ResponseWriter, r *http.Request) error {
	f, err := readForm(r)
	if err != nil {
		return err
	}
	g, err := h.loadGrant(r)
	if err != nil {
		return err
	}
	grant := readGrant(f, g)
	_, err = h.registry.Grant(r.Context(), actor(r), pathRef(r, "id"), pathRef(r, "connector"), grant)
	if problem, ok := asFormFault(r.Context(), err); ok {
		g.replaceGrant(grant)
		return h.grantPage(w, r, respond.Status(problem.Kind), g, f.toForm(problem))
	}
	if err != nil {
		return err
	}
	return h.respond.Back(w, r, agentPath(g.agent.Slug)+"/access", respond.Flash{
		Kind: respond.Notice,
		Text: i18n.T(r.Context(), "'%s' may use %s of '%s'.", g.agent.Name, i18n.Lower(r.Context(), grantedTools(r.Context(), grant, -1)), g.connector.Name),
	})
}

// readGrant reads the form's grant. Tools that the form does not list keep their state.
func readGrant(f postedForm, g grantState) connectors.Grant {
	grant := connectors.Grant{
		AllTools:     f.checked("all"),
		TrustedTools: append(unlistedNames(g, g.grant.TrustedTools), f.values["trusted"]...),
	}
	if !grant.AllTools {
		grant.Tools = append(unlistedNames(g, g.grant.Tools), f.values["tool"]...)
	}
	if mode := connectors.ApprovalMode(f.text("approval")); mode != "" {
		grant.Approval = &mode
	}
	return grant
}

// unlistedNames are the names that the form omits because there are too many.
func unlistedNames(g grantState, names []string) []string {
	if len(g.choices) < store.MaxToolChoices {
		return nil
	}
	listed := map[string]bool{}
	for _, c := range g.choices {
		listed[c.Name] = true
	}
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return listed[name] })
}

// grantRemove revokes an agent's grant.
func (h *Handler) grantRemove(w http.ResponseWriter, r *http.Request) error {
	if err := h.registry.DropGrant(r.Context(), actor(r), pathRef(r, "id"), pathRef(r, "connector")); err != nil {
		return err
	}
	return h.respond.Back(w, r, agentPath(string(pathRef(r, "id")))+"/access", respond.Flash{Kind: respond.Notice, Text: i18n.T(r.Context(), "The grant is taken away.")})
}
