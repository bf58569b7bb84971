package admin

import (
	"context"
	"net/http"

	"patchbay/internal/auth"
	"patchbay/internal/i18n"
	"patchbay/internal/respond"
)

// ssoClaim claims an e-mail domain for the organisation.
func (h *Handler) ssoClaim(w http.ResponseWriter, r *http.Request) error {
	f, err := readForm(r)
	if err != nil {
		return err
	}
	err = h.sso.Claim(r.Context(), actor(r), f.text("domain"))
	if problem, ok := asFormFault(r.Context(), err); ok {
		return h.ssoPage(w, r, respond.Status(problem.Kind), ssoPageState{claim: f.toForm(problem)})
	}
	if err != nil {
		return err
	}
	return h.respond.Back(w, r, "/settings/sso", respond.Flash{Kind: respond.Notice, Text: i18n.T(r.Context(), "The domain is added. Verify it next.")})
}

// ssoVerify checks the DNS record that proves a domain.
func (h *Handler) ssoVerify(w http.ResponseWriter, r *http.Request) error {
	return h.ssoDomain(w, r, h.sso.Verify, i18n.T(r.Context(), "The domain is verified."))
}

// ssoRelease releases a domain.
func (h *Handler) ssoRelease(w http.ResponseWriter, r *http.Request) error {
	return h.ssoDomain(w, r, h.sso.Release, i18n.T(r.Context(), "The domain is released."))
}

func (h *Handler) ssoDomain(w http.ResponseWriter, r *http.Request, act func(context.Context, auth.Actor, string) error, message string) error {
	f, err := readForm(r)
	if err != nil {
		return err
	}
	clearWriteDeadline(w)
	err = act(r.Context(), actor(r), f.text("domain"))
	if problem, ok := asFormFault(r.Context(), err); ok {
		return h.respond.Back(w, r, "/settings/sso", respond.Flash{Kind: respond.Alert, Text: problem.Message})
	}
	if err != nil {
		return err
	}
	return h.respond.Back(w, r, "/settings/sso", respond.Flash{Kind: respond.Notice, Text: message})
}
