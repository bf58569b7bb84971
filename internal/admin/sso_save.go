package admin

import (
	"net/http"
	"strings"

	"patchbay/internal/connectors"
	"patchbay/internal/respond"
	"patchbay/internal/sso"
	"patchbay/internal/words"
)

// ssoSave changes how people sign in at the organisation's provider.
func (h *Handler) ssoSave(w http.ResponseWriter, r *http.Request) error {
	f, err := readForm(r)
	if err != nil {
		return err
	}
	var saved connectors.SSO
	if err = f.retype(r.Context()); err == nil {
		saved, err = h.sso.Save(r.Context(), actor(r), f.ssoChange())
	}
	if problem, ok := mendable(r.Context(), err); ok {
		again := f.again(problem)
		return h.ssoPage(w, r, respond.Status(problem.Kind), ssoNews{form: &again})
	}
	if err != nil {
		return err
	}
	said := respond.Flash{Kind: respond.Notice, Text: words.T(r.Context(), "The settings are saved.")}
	if !saved.Enabled && f.checked("enabled") {
		said = respond.Flash{Kind: respond.Alert, Text: words.T(r.Context(), "The settings are saved. Single sign-on is off until the new connection was tested.")}
	}
	return h.respond.Back(w, r, "/settings/sso", said)
}

func (f form) ssoChange() sso.Change {
	c := sso.Change{
		Issuer: new(f.text("issuer")), ClientID: new(f.text("client_id")), ClientSecret: f.secret("client_secret"), GroupsClaim: new(f.text("groups_claim")),
		Groups: new(readGroups(f.text("groups"))), Joins: new(f.checked("joins")), DefaultRole: new(connectors.Role(f.text("default_role"))),
		Enabled: new(f.checked("enabled")), Enforced: new(f.checked("enforced")), BreakGlass: &connectors.UserID{},
	}
	if id, ok := connectors.Ref(f.text("break_glass")).UUID(); ok {
		c.BreakGlass.UUID = id
	}
	return c
}

// readGroups reads the table as people write it; a line without a role has none, which the rules refuse. A group's name may have a = in it.
func readGroups(text string) []connectors.GroupRole {
	groups := []connectors.GroupRole{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		group, role := line, ""
		if at := strings.LastIndexByte(line, '='); at >= 0 {
			group, role = strings.TrimSpace(line[:at]), strings.TrimSpace(line[at+1:])
		}
		groups = append(groups, connectors.GroupRole{Group: group, Role: connectors.Role(strings.ToLower(role))})
	}
	return groups
}

// ssoForget forgets the provider.
func (h *Handler) ssoForget(w http.ResponseWriter, r *http.Request) error {
	err := h.sso.Forget(r.Context(), actor(r))
	if problem, ok := mendable(r.Context(), err); ok {
		return h.respond.Back(w, r, "/settings/sso", respond.Flash{Kind: respond.Alert, Text: problem.Message})
	}
	if err != nil {
		return err
	}
	return h.respond.Back(w, r, "/settings/sso", respond.Flash{Kind: respond.Notice, Text: words.T(r.Context(), "The provider is forgotten.")})
}
