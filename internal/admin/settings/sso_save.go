package settings

import (
	"net/http"
	"strings"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
	"patchbay/internal/sso"
)

// ssoSave changes the organisation's SSO settings.
func (h *Handler) ssoSave(w http.ResponseWriter, r *http.Request) error {
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	saved, err := h.SSO.Save(r.Context(), shell.Actor(r), ssoChange(f))
	if problem, ok := shell.AsFormFault(r.Context(), err); ok {
		view := f.ToForm(problem)
		return h.ssoPage(w, r, respond.Status(problem.Kind), ssoPageState{form: &view})
	}
	if err != nil {
		return err
	}
	flash := respond.Flash{Kind: respond.Notice, Text: i18n.T(r.Context(), "Settings saved.")}
	if !saved.Enabled && f.Checked("enabled") {
		flash = respond.Flash{Kind: respond.Alert, Text: i18n.T(r.Context(), "Saved. Single sign-on is off until you test the connection.")}
	}
	return h.Respond.Back(w, r, "/settings/sso", flash)
}

func ssoChange(f shell.PostedForm) sso.Change {
	c := sso.Change{
		Issuer: new(f.Text("issuer")), ClientID: new(f.Text("client_id")), ClientSecret: f.Secret("client_secret"), GroupsClaim: new(f.Text("groups_claim")),
		Groups: new(readGroups(f.Text("groups"))), Joins: new(f.Checked("joins")), DefaultRole: new(connectors.Role(f.Text("default_role"))),
		Enabled: new(f.Checked("enabled")), Enforced: new(f.Checked("enforced")), BreakGlass: &connectors.UserID{},
		ManagedAccounts: new(f.Checked("managed_accounts")), ManagedClients: new(f.Checked("managed_clients")),
	}
	if id, ok := connectors.Ref(f.Text("break_glass")).UUID(); ok {
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
	err := h.SSO.Forget(r.Context(), shell.Actor(r))
	if problem, ok := shell.AsFormFault(r.Context(), err); ok {
		return h.Respond.Back(w, r, "/settings/sso", respond.Flash{Kind: respond.Alert, Text: problem.Message})
	}
	if err != nil {
		return err
	}
	return h.Respond.Back(w, r, "/settings/sso", respond.Flash{Kind: respond.Notice, Text: i18n.T(r.Context(), "Provider removed.")})
}
