package admin

import (
	"context"
	"net/http"

	"patchbay/internal/auth"
	"patchbay/internal/respond"
	"patchbay/internal/words"
)

// ssoClaim says that an e-mail domain is the organisation's.
func (h *Handler) ssoClaim(w http.ResponseWriter, r *http.Request) error {
	f, err := readForm(r)
	if err != nil {
		return err
	}
	err = h.sso.Claim(r.Context(), actor(r), f.text("domain"))
	if problem, ok := mendable(r.Context(), err); ok {
		return h.ssoPage(w, r, respond.Status(problem.Kind), ssoNews{claim: f.again(problem)})
	}
	if err != nil {
		return err
	}
	return h.respond.Back(w, r, "/settings/sso", respond.Flash{Kind: respond.Notice, Text: words.T(r.Context(), "The domain is added. Verify it next.")})
}

// ssoVerify looks the record up that proves a domain.
func (h *Handler) ssoVerify(w http.ResponseWriter, r *http.Request) error {
	return h.ssoDomain(w, r, h.sso.Verify, words.T(r.Context(), "The domain is verified."))
}

// ssoRelease gives a domain up.
func (h *Handler) ssoRelease(w http.ResponseWriter, r *http.Request) error {
	return h.ssoDomain(w, r, h.sso.Release, words.T(r.Context(), "The domain is released."))
}

func (h *Handler) ssoDomain(w http.ResponseWriter, r *http.Request, act func(context.Context, auth.Actor, string) error, said string) error {
	f, err := readForm(r)
	if err != nil {
		return err
	}
	waitLong(w)
	err = act(r.Context(), actor(r), f.text("domain"))
	if problem, ok := mendable(r.Context(), err); ok {
		return h.respond.Back(w, r, "/settings/sso", respond.Flash{Kind: respond.Alert, Text: problem.Message})
	}
	if err != nil {
		return err
	}
	return h.respond.Back(w, r, "/settings/sso", respond.Flash{Kind: respond.Notice, Text: said})
}
