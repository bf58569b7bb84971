package admin

import (
	"net/http"
	"slices"

	"patchbay/internal/connectors"
	"patchbay/internal/respond"
	"patchbay/internal/store"
	"patchbay/internal/words"
)

// grantSave lets an agent use a connector, or changes what it may use of it.
func (h *Handler) grantSave(w http.ResponseWriter, r *http.Request) error {
	f, err := readForm(r)
	if err != nil {
		return err
	}
	g, err := h.granting(r)
	if err != nil {
		return err
	}
	wanted := f.grant(g)
	_, err = h.registry.Grant(r.Context(), actor(r), ref(r, "id"), ref(r, "connector"), wanted)
	if problem, ok := mendable(r.Context(), err); ok {
		g.take(wanted)
		return h.grantPage(w, r, respond.Status(problem.Kind), g, f.again(problem))
	}
	if err != nil {
		return err
	}
	return h.respond.Back(w, r, agentPath(g.agent.Slug)+"/access", respond.Flash{
		Kind: respond.Notice,
		Text: words.T(r.Context(), "'%s' may use %s of '%s'.", g.agent.Name, words.Lower(r.Context(), grantedTools(r.Context(), wanted, -1)), g.connector.Name),
	})
}

// grant is what the form says. Tools that the form does not list keep what was chosen for them.
func (f form) grant(g granting) connectors.Grant {
	wanted := connectors.Grant{
		AllTools:     f.checked("all"),
		TrustedTools: append(unlisted(g, g.grant.TrustedTools), f.values["trusted"]...),
	}
	if !wanted.AllTools {
		wanted.Tools = append(unlisted(g, g.grant.Tools), f.values["tool"]...)
	}
	if mode := connectors.ApprovalMode(f.text("approval")); mode != "" {
		wanted.Approval = &mode
	}
	return wanted
}

// unlisted are the names that the form does not show, because there are too many of them.
func unlisted(g granting, names []string) []string {
	if len(g.choices) < store.MaxToolChoices {
		return nil
	}
	listed := map[string]bool{}
	for _, c := range g.choices {
		listed[c.Name] = true
	}
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return listed[name] })
}

// grantRemove takes a connector from an agent.
func (h *Handler) grantRemove(w http.ResponseWriter, r *http.Request) error {
	if err := h.registry.DropGrant(r.Context(), actor(r), ref(r, "id"), ref(r, "connector")); err != nil {
		return err
	}
	return h.respond.Back(w, r, agentPath(string(ref(r, "id")))+"/access", respond.Flash{Kind: respond.Notice, Text: words.T(r.Context(), "The grant is taken away.")})
}
