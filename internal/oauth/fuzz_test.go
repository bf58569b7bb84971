package oauth_test

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"patchbay/internal/oauth"
)

// documents answers by path, without a network.
type documents map[string]string

func (d documents) RoundTrip(r *http.Request) (*http.Response, error) {
	if body, ok := d[r.URL.Path]; ok && r.URL.Host == "mcp.example" {
		return says{http.StatusOK, body}.RoundTrip(r)
	}
	return says{http.StatusNotFound, ""}.RoundTrip(r)
}

// says answers one thing.
type says struct {
	status int
	body   string
}

func (s says) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: s.status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(s.body)), Request: r}, nil
}

// FuzzMetadata: whatever two documents say, what is accepted may be contacted, and belongs to the server and the issuer.
func FuzzMetadata(f *testing.F) {
	f.Fuzz(func(t *testing.T, resource, server string) {
		_, _ = oauth.ParseResourceMetadata([]byte(resource))
		_, _ = oauth.ParseMetadata([]byte(server))
		c := &oauth.Client{HTTP: &http.Client{Transport: documents{
			"/.well-known/oauth-protected-resource/mcp": resource, "/.well-known/oauth-authorization-server": server,
		}}}
		d, err := c.Discover(t.Context(), oauth.Target{ServerURL: "https://mcp.example/mcp"})
		for _, step := range d.Trace {
			if strings.ContainsAny(step.URL+step.Read+step.Decided, "<>\"\r\n\x00") {
				t.Errorf("remote text in the trace: %+v", step)
			}
		}
		if err != nil {
			return
		}
		if u, err := url.Parse(d.Resource); d.Resource != "" &&
			(err != nil || u.Scheme != "https" || !strings.EqualFold(u.Hostname(), "mcp.example") || u.Path != "" && u.Path != "/" && strings.TrimSuffix(u.Path, "/") != "/mcp") {
			t.Errorf("resource %q for https://mcp.example/mcp", d.Resource)
		}
		for _, raw := range []string{d.Server.AuthorizationEndpoint, d.Server.TokenEndpoint, d.Server.RegistrationEndpoint, d.Server.RevocationEndpoint} {
			if u, err := url.Parse(raw); raw != "" && (err != nil || u.Scheme != "https" || u.User != nil || u.Host == "") {
				t.Errorf("endpoint %q", raw)
			}
		}
	})
}

// FuzzTokenAnswer: a token that comes out can be put into a header, and an error repeats known codes only.
func FuzzTokenAnswer(f *testing.F) {
	f.Fuzz(func(t *testing.T, status int, body string) {
		if status < 200 || status > 599 {
			return
		}
		c := &oauth.Client{HTTP: &http.Client{Transport: says{status, body}}}
		p := oauth.Peer{Server: oauth.Metadata{TokenEndpoint: "https://as.example/token"}, Client: oauth.Registration{ClientID: "id"}}
		token, err := c.Refresh(t.Context(), p, "r")
		if err == nil {
			if token.AccessToken == "" || strings.ContainsAny(token.AccessToken.Reveal()+token.RefreshToken.Reveal(), "\r\n\x00") || token.ExpiresAt.IsZero() {
				t.Errorf("token %q, %+v", token.AccessToken.Reveal(), token)
			}
			return
		}
		failure, ok := errors.AsType[*oauth.Error](err)
		if !ok || failure.Code != "" && !slices.Contains(knownCodes, failure.Code) {
			t.Errorf("%v", err)
		}
		if failure.Kind == oauth.KindDead && (status >= 500 || !strings.Contains(body, "in") && !strings.Contains(body, "code") && !strings.Contains(body, "bad")) {
			t.Errorf("status %d ends the grant by %q", status, body)
		}
	})
}

var knownCodes = []string{
	"invalid_grant", "invalid_client", "unauthorized_client", "invalid_scope", "access_denied", "login_required", "consent_required",
	"interaction_required", "account_selection_required", "server_error", "temporarily_unavailable", "slow_down", "invalid_request",
	"invalid_target", "invalid_redirect_uri", "invalid_client_metadata", "invalid_software_statement", "unapproved_software_statement",
	"unsupported_grant_type", "unsupported_response_type", "unsupported_token_type", "invalid_dpop_proof", "use_dpop_nonce",
}

// FuzzCallback: a code is taken from the right issuer only.
func FuzzCallback(f *testing.F) {
	f.Fuzz(func(t *testing.T, query string, advertised bool) {
		q, err := url.ParseQuery(query)
		if err != nil {
			return
		}
		m := server()
		m.IssParameterSupported = advertised
		code, err := oauth.ReadCallback(q, m)
		iss, has := q["iss"]
		switch {
		case err != nil:
			if failure, ok := errors.AsType[*oauth.Error](err); !ok || code != "" || failure.Code != "" && !slices.Contains(knownCodes, failure.Code) {
				t.Errorf("%q with %v", code.Reveal(), err)
			}
		case code == "" || strings.ContainsAny(code.Reveal(), "\r\n\x00"):
			t.Errorf("code %q", code.Reveal())
		case advertised && !has, has && !slices.Equal(iss, []string{m.Issuer}):
			t.Errorf("a code from %q", iss)
		}
	})
}
