package authserver

import (
	"mime"
	"net/http"
	"net/url"

	"github.com/go-chi/chi/v5"

	"patchbay/internal/fault"
	"patchbay/internal/middleware"
	"patchbay/internal/respond"
	"patchbay/internal/secret"
)

// Mount adds what programs ask. The pages are the dashboard's.
func (s *Server) Mount(r chi.Router) {
	r.Get(metadataPath, s.metadata)
	r.Post(registerPath, s.program(s.register))
	r.Post(tokenPath, s.program(s.token))
	r.Post(revokePath, s.program(s.revocation))
	r.Post(introspectPath, s.program(s.introspection))
}

// Speaks tells whether an address is asked by programs, which read failures in OAuth's words alone.
func Speaks(path string) bool {
	return path == registerPath || path == tokenPath || path == revokePath || path == introspectPath
}

func (s *Server) token(w http.ResponseWriter, r *http.Request) error {
	f, err := form(r)
	if err != nil {
		return err
	}
	var given tokens
	switch f.Get("grant_type") {
	case "authorization_code", "refresh_token":
		if f.Get("client_id") == "" {
			return invalidRequest("the client_id is missing")
		}
	}
	switch f.Get("grant_type") {
	case "authorization_code":
		given, err = s.exchange(r.Context(), f)
	case "refresh_token":
		given, err = s.refresh(r.Context(), f)
	default:
		err = &refusal{Code: "unsupported_grant_type", Says: "the grants are authorization_code and refresh_token"}
	}
	if err != nil {
		return err
	}
	middleware.Welcome(r.Context())
	s.used(r.Context(), f.Get("client_id"))
	answer(w, http.StatusOK, given)
	return nil
}

func (s *Server) revocation(w http.ResponseWriter, r *http.Request) error {
	f, err := form(r)
	if err != nil {
		return err
	}
	if !f.Has("token") {
		return invalidRequest("the token is missing")
	}
	if err := s.revoke(r.Context(), secret.Text(f.Get("token")), f.Get("client_id")); err != nil {
		return err
	}
	answer(w, http.StatusOK, struct{}{})
	return nil
}

// introspection is for those who run a tenant: its caller brings an API key of an admin.
func (s *Server) introspection(w http.ResponseWriter, r *http.Request) error {
	a, err := s.auth.FromBearer(r.Context(), r.Header.Get("Authorization"))
	if fault.Is(err, fault.Unauthenticated) {
		w.Header().Set("WWW-Authenticate", "Bearer")
		return &refusal{Status: http.StatusUnauthorized, Code: "invalid_client", Says: fault.As(err).Message}
	}
	if err != nil {
		return err
	}
	f, err := form(r)
	if err != nil {
		return err
	}
	if !f.Has("token") {
		return invalidRequest("the token is missing")
	}
	is, err := s.introspect(r.Context(), a, secret.Text(f.Get("token")))
	if fault.Is(err, fault.Denied) {
		return &refusal{Status: http.StatusForbidden, Code: "access_denied", Says: respond.Fault(err).Message}
	}
	if err != nil {
		return err
	}
	answer(w, http.StatusOK, is)
	return nil
}

// form reads what a program sends. A parameter that comes twice is refused (RFC 6749 §3.2): which of the two counts is a matter of opinion.
func form(r *http.Request) (url.Values, error) {
	media, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if media != "application/x-www-form-urlencoded" {
		return nil, invalidRequest("send the parameters as application/x-www-form-urlencoded")
	}
	if err := r.ParseForm(); err != nil {
		return nil, fault.Wrap(fault.Malformed, err, "The parameters cannot be read.")
	}
	for _, values := range r.PostForm {
		if len(values) > 1 {
			return nil, invalidRequest("a parameter comes twice")
		}
	}
	return r.PostForm, named(r)
}

// named puts the client id among the parameters where a program says it by HTTP Basic, as libraries do that do not know that it has no secret
// (RFC 6749 §2.3.1).
func named(r *http.Request) error {
	user, password, basic := r.BasicAuth()
	if !basic {
		return nil
	}
	id, err := url.QueryUnescape(user)
	if said := r.PostForm.Get("client_id"); err != nil || password != "" || said != "" && said != id {
		return &refusal{Status: http.StatusUnauthorized, Code: "invalid_client", Says: "clients have no secret here, and one id"}
	}
	r.PostForm.Set("client_id", id)
	return nil
}
