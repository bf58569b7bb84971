package oauthtest

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// serveAuthorize responds as if a person agreed at once.
func (s *Server) serveAuthorize(w http.ResponseWriter, r *http.Request, b Behaviour) {
	q := r.URL.Query()
	if !s.isRegistered(q.Get("client_id"), q.Get("redirect_uri"), b) {
		http.Error(w, "unknown client or redirect address", http.StatusBadRequest)
		return
	}
	answer := url.Values{"state": {q.Get("state")}}
	switch b.Iss {
	case IssRight, IssUnasked:
		answer.Set("iss", s.Issuer)
	case IssWrong, IssWrongQuiet:
		answer.Set("iss", "https://attacker.example")
	}
	if refusal := findRefusal(q, b); refusal != "" {
		answer.Set("error", refusal)
		answer.Set("error_description", Reflected)
	} else {
		answer.Set("code", s.newCode(q))
	}
	target, err := url.Parse(q.Get("redirect_uri"))
	if err != nil {
		http.Error(w, "redirect_uri", http.StatusBadRequest)
		return
	}
	merged := target.Query()
	for name, values := range answer {
		merged[name] = values
	}
	target.RawQuery = merged.Encode()
	http.Redirect(w, r, target.String(), http.StatusFound)
}

func findRefusal(q url.Values, b Behaviour) string {
	refusesScope := slices.ContainsFunc(strings.Fields(q.Get("scope")), func(s string) bool {
		return slices.Contains(b.RefuseScopes, s)
	})
	switch {
	case b.Deny != "":
		return b.Deny
	case q.Get("response_type") != "code":
		return "unsupported_response_type"
	case q.Get("code_challenge") == "" || q.Get("code_challenge_method") != "S256":
		return "invalid_request"
	case refusesScope:
		return "invalid_scope"
	case b.RefuseResource && q.Has("resource"), b.NeedResource && !q.Has("resource"):
		return "invalid_target"
	}
	return ""
}

func (s *Server) newCode(q url.Values) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := s.newSecret("code")
	s.codes[text] = &issuedCode{
		client: q.Get("client_id"), redirect: q.Get("redirect_uri"), challenge: q.Get("code_challenge"),
		resource: q.Get("resource"), scopes: strings.Fields(q.Get("scope")),
	}
	return text
}

func (s *Server) isRegistered(id, redirect string, b Behaviour) bool {
	if b.ClientDocuments && strings.HasPrefix(id, "https://") {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c, ok := s.clients[id]
	return ok && slices.Contains(c.redirects, redirect)
}
