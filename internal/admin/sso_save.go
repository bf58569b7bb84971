package admin

import (
	"net/http"
	"strings"

	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
	"patchbay/internal/sso"
)

// ssoSave changes the organisation's SSO settings.
func (h *Handler) ssoSave(w http.ResponseWriter, r *http.Request) error {
	f, err := readForm(r)
	if err != nil {
		return err
	}
	var saved connectors.SSO
	if err = f.checkSecretsRetyped(r.Context()); err == nil {
		saved, err = h.sso.Save(r.Context(), actor(r), ssoChange(f))
	}
	if problem, ok := asFormFault(r.Context(), err); ok {
		view := f.toForm(problem)
		return h.ssoPage(w, r, respond.Status(problem.Kind), ssoPageState{form: &view})
	}
	if err != nil {
		return err
	}
	flash := respond.Flash{Kind: respond.Notice, Text: i18n.T(r.Context(), "The settings are saved.")}
	if !saved.Enabled && f.checked("enabled") {
		flash = respond.Flash{Kind: respond.Alert, Text: i18n.T(r.Context(), "The settings are saved. Single sign-on is off until the new connection was tested.")}
	}
	return h.respond.Back(w, r, "/settings/sso", flash)
}

func ssoChange(f postedForm) sso.Change {
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

// readGroups parses lines of "group = role". A line without a role has an empty one, which validation refuses.
// A group's name may contain "=".
func readGroups(text string) []connectors.GroupRole {
	groups := []connectors.GroupRole{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		group, role := line, ""
		if separator := strings.LastIndexByte(line, '='); separator >= 0 {
			group, role = strings.TrimSpace(line[:separator]), strings.TrimSpace(line[separator+1:])
		}
		groups = append(groups, connectors.GroupRole{Group: group, Role: connectors.Role(strings.ToLower(role))})
	}
	return groups
}

// ssoForget deletes the provider.
func (h *Handler) ssoForget(w http.ResponseWriter, r *http.Request) error {
	err := h.sso.Forget(r.Context(), actor(r))
	if problem, ok := asFormFault(r.Context(), err); ok {
		return h.respond.Back(w, r, "/settings/sso", respond.Flash{Kind: respond.Alert, Text: problem.Message})
	}
	if err != nil {
		return err
	}
	return h.respond.Back(w, r, "/settings/sso", respond.Flash{Kind: respond.Notice, Text: i18n.T(r.Context(), "The provider is forgotten.")})
}
