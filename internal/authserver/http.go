package authserver

import (
	"mime"
	"net/http"
	"net/url"

	"github.com/go-chi/chi/v5"

	"patchbay/internal/fault"
	"patchbay/internal/middleware"
	"patchbay/internal/secret"
)

// Mount adds the endpoints for clients. The pages are in package admin.
func (s *Server) Mount(r chi.Router) {
	r.Get(metadataPath, s.serveMetadata)
	r.Get(issuerPath+discoveryPath, s.adaptHandler(s.serveIssuer))
	r.Get(issuerPath+keysPath, s.adaptHandler(s.serveKeys))
	r.Post(registerPath, s.adaptHandler(s.serveRegistration))
	r.Post(tokenPath, s.adaptHandler(s.serveToken))
	r.Post(revokePath, s.adaptHandler(s.serveRevocation))
	r.Post(introspectPath, s.adaptHandler(s.serveIntrospection))
}

// IsOAuthPath reports whether a path is an endpoint for clients, with OAuth errors.
func IsOAuthPath(path string) bool {
	return path == registerPath || path == tokenPath || path == revokePath || path == introspectPath
}

func (s *Server) serveToken(w http.ResponseWriter, r *http.Request) error {
	f, err := parseForm(r)
	if err != nil {
		return err
	}
	proof, err := s.verifyProof(r)
	if err != nil {
		return err
	}
	var given tokenResponse
	switch f.Get("grant_type") {
	case "authorization_code", "refresh_token", jwtBearer:
		if f.Get("client_id") == "" {
			return invalidRequest("the client_id is missing")
		}
	}
	switch f.Get("grant_type") {
	case "authorization_code":
		given, err = s.exchangeCode(r.Context(), f, proof)
	case "refresh_token":
		given, err = s.refreshTokens(r.Context(), f, proof)
	case jwtBearer:
		if isIdentityAssertion(f.Get("assertion")) {
			given, err = s.exchangeIdentity(r.Context(), f, proof)
		} else {
			given, err = s.exchangeAssertion(r.Context(), f, proof)
		}
	default:
		err = &oauthError{Code: "unsupported_grant_type", Description: "grant_type must be authorization_code, refresh_token or " + jwtBearer}
	}
	if err != nil {
		return err
	}
	middleware.MarkAuthenticated(r.Context())
	s.markClientUsed(r.Context(), f.Get("client_id"))
	writeJSON(w, http.StatusOK, given)
	return nil
}

func (s *Server) serveRevocation(w http.ResponseWriter, r *http.Request) error {
	f, err := parseForm(r)
	if err != nil {
		return err
	}
	if !f.Has("token") {
		return invalidRequest("the token is missing")
	}
	if err := s.revokeToken(r.Context(), secret.Text(f.Get("token")), f.Get("client_id")); err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, struct{}{})
	return nil
}

// serveIntrospection requires an admin's API key.
func (s *Server) serveIntrospection(w http.ResponseWriter, r *http.Request) error {
	a, err := s.auth.FromBearer(r.Context(), r.Header.Get("Authorization"))
	if fault.Is(err, fault.Unauthenticated) {
		w.Header().Set("WWW-Authenticate", "Bearer")
		return &oauthError{Status: http.StatusUnauthorized, Code: "invalid_client", Description: fault.As(err).Message}
	}
	if err != nil {
		return err
	}
	f, err := parseForm(r)
	if err != nil {
		return err
	}
	if !f.Has("token") {
		return invalidRequest("the token is missing")
	}
	is, err := s.introspectToken(r.Context(), a, secret.Text(f.Get("token")))
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, is)
	return nil
}

// parseForm parses the request body. It refuses repeated parameters (RFC 6749 section 3.2).
func parseForm(r *http.Request) (url.Values, error) {
	media, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if media != "application/x-www-form-urlencoded" {
		return nil, invalidRequest("send the parameters as application/x-www-form-urlencoded")
	}
	if err := r.ParseForm(); err != nil {
		return nil, fault.Wrap(fault.Malformed, err, "Can't read the parameters.")
	}
	for _, values := range r.PostForm {
		if len(values) > 1 {
			return nil, invalidRequest("duplicate parameter")
		}
	}
	return r.PostForm, setBasicClientID(r)
}

// setBasicClientID copies the client id from HTTP Basic into the form, for libraries that treat public clients
// as confidential (RFC 6749 section 2.3.1).
func setBasicClientID(r *http.Request) error {
	user, password, basic := r.BasicAuth()
	if !basic {
		return nil
	}
	id, err := url.QueryUnescape(user)
	if formID := r.PostForm.Get("client_id"); err != nil || password != "" || formID != "" && formID != id {
		return &oauthError{Status: http.StatusUnauthorized, Code: "invalid_client", Description: "clients have no secret and send one client_id"}
	}
	r.PostForm.Set("client_id", id)
	return nil
}
