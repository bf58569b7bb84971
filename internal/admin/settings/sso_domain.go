package settings

import (
	"context"
	"net/http"

	"patchbay/internal/admin/shell"
	"patchbay/internal/auth"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
)

// ssoClaim claims an e-mail domain for the organisation.
func (h *Handler) ssoClaim(w http.ResponseWriter, r *http.Request) error {
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	err = h.SSO.Claim(r.Context(), shell.Actor(r), f.Text("domain"))
	if problem, ok := shell.AsFormFault(r.Context(), err); ok {
		return h.ssoPage(w, r, respond.Status(problem.Kind), ssoPageState{claim: f.ToForm(problem)})
	}
	if err != nil {
		return err
	}
	return h.Respond.Back(w, r, "/settings/sso", respond.Flash{Kind: respond.Notice, Text: i18n.T(r.Context(), "Domain added. Verify it next.")})
}

// ssoVerify checks the DNS record that proves a domain.
func (h *Handler) ssoVerify(w http.ResponseWriter, r *http.Request) error {
	return h.ssoDomain(w, r, h.SSO.Verify, i18n.T(r.Context(), "Domain verified."))
}

// ssoRelease releases a domain.
func (h *Handler) ssoRelease(w http.ResponseWriter, r *http.Request) error {
	return h.ssoDomain(w, r, h.SSO.Release, i18n.T(r.Context(), "Domain released."))
}

func (h *Handler) ssoDomain(w http.ResponseWriter, r *http.Request, act func(context.Context, auth.Actor, string) error, message string) error {
	f, err := shell.ReadForm(r)
	if err != nil {
		return err
	}
	shell.ClearWriteDeadline(w)
	err = act(r.Context(), shell.Actor(r), f.Text("domain"))
	if problem, ok := shell.AsFormFault(r.Context(), err); ok {
		return h.Respond.Back(w, r, "/settings/sso", respond.Flash{Kind: respond.Alert, Text: problem.Message})
	}
	if err != nil {
		return err
	}
	return h.Respond.Back(w, r, "/settings/sso", respond.Flash{Kind: respond.Notice, Text: message})
}
