package credentials_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"patchbay/internal/config"
	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/fault"
	"patchbay/internal/oauth"
	"patchbay/internal/safehttp"
	"patchbay/internal/testing/fixture"
)

// federation is an MCP server with an authorization server that takes a workload's JWT, and the authorization server of an attacker.
type federation struct {
	*fixture.World
	server, as, evil *httptest.Server
	file             string
	token            config.WorkloadToken
	oauth            *oauth.Client

	mu       sync.Mutex   // guards the fields below
	requests []url.Values // for tokens, at both
	names    string       // the authorization server in the resource's metadata; empty: as
	lacks    bool         // as has no metadata
	refuse   string       // error of as; empty: none
}

func newFederation(t *testing.T) *federation {
	t.Helper()
	p := safehttp.New(safehttp.Options{Mode: safehttp.Local})
	t.Cleanup(p.Client().CloseIdleConnections)
	f := &federation{World: fixture.New(t), oauth: &oauth.Client{HTTP: p.Client(), CheckURL: p.CheckURL}, file: filepath.Join(t.TempDir(), "token")}
	for _, s := range []**httptest.Server{&f.server, &f.as, &f.evil} {
		*s = httptest.NewServer(http.HandlerFunc(f.serve))
		t.Cleanup((*s).Close)
	}
	f.names = f.as.URL
	f.token = config.WorkloadToken{File: f.file, Servers: []string{"127.0.0.1"}, Tenants: []string{"*"}}
	f.writeToken(t, "first", fmt.Sprintf(`"aud":%q`, f.as.URL), time.Hour)
	return f
}

// writeToken writes an unsigned JWT, as a rotation does.
func (f *federation) writeToken(t *testing.T, id, aud string, valid time.Duration) {
	t.Helper()
	claims := base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, `{%s,"exp":%d}`, aud, time.Now().Add(valid).Unix()))
	must(t, os.WriteFile(f.file, []byte(id+"."+claims+".signature\n"), 0o600))
}

func (f *federation) serve(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	f.mu.Lock()
	defer f.mu.Unlock()
	self := "http://" + r.Host
	switch r.URL.Path {
	case "/.well-known/oauth-protected-resource/mcp":
		_ = json.NewEncoder(w).Encode(map[string]any{"resource": self + "/mcp", "authorization_servers": []string{f.names}, "scopes_supported": []string{"read"}})
	case "/.well-known/oauth-authorization-server":
		if f.lacks {
			http.NotFound(w, r)
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{
			"issuer": self, "authorization_endpoint": self + "/authorize", "token_endpoint": self + "/token", "grant_types_supported": []string{oauth.GrantJWTBearer},
			"token_endpoint_auth_methods_supported": []string{"none"},
		})
	case "/token":
		f.requests = append(f.requests, r.PostForm)
		if f.refuse != "" {
			w.WriteHeader(http.StatusBadRequest)
			_ = json.NewEncoder(w).Encode(map[string]any{"error": f.refuse, "error_description": r.PostForm.Get("assertion")})
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"access_token": fmt.Sprint("access-", len(f.requests)), "token_type": "Bearer", "expires_in": 3600})
	default:
		http.NotFound(w, r)
	}
}

func (f *federation) newResolver() *credentials.Resolver {
	return credentials.NewRefreshing(credentials.Options{Store: f.St, OAuth: f.oauth, WorkloadTokens: map[string]config.WorkloadToken{"ours": f.token}})
}

func (f *federation) newConnector(t *testing.T, name string, opts ...func(*connectors.Draft)) connectors.Connector {
	t.Helper()
	c := f.Connector(t, append([]func(*connectors.Draft){func(d *connectors.Draft) {
		d.URL, d.Auth.Type, d.OAuth.ClientID = f.server.URL+"/mcp", connectors.AuthClientCredentials, "workload"
	}}, opts...)...)
	saveCredential(t, f.World, c, nil, connectors.Secret{WorkloadToken: name})
	return c
}

// resolveHeaders returns the headers of a sync.
func resolveHeaders(t *testing.T, r *credentials.Resolver, tenant connectors.TenantID, c connectors.Connector) ([]credentials.Header, error) {
	t.Helper()
	u, err := r.Resolve(t.Context(), tenant, c, credentials.Account{})
	if err != nil {
		return nil, err
	}
	if u == nil {
		return nil, r.ExplainMissing(t.Context(), tenant, c, credentials.Account{})
	}
	return u.Headers, nil
}

func TestWorkload_AccessTokenIsNotHandedOutAndEndsWithTheOffer(t *testing.T) {
	t.Parallel()
	f := newFederation(t)
	c, r := f.newConnector(t, "ours"), f.newResolver()
	if headers, err := resolveHeaders(t, r, f.Tenant, c); err != nil || len(headers) == 0 {
		t.Fatal(headers, err)
	}
	if headers, err := r.Headers(t.Context(), f.Tenant, c, credentials.Account{}); err == nil || !strings.Contains(err.Error(), "only works through the gateway") {
		t.Errorf("%v, %v", headers, err)
	}
	f.token.Tenants = []string{"another"}
	if headers, err := resolveHeaders(t, f.newResolver(), f.Tenant, c); err == nil || !strings.Contains(err.Error(), "offers no workload token") {
		t.Errorf("after the operator withdrew it from the tenant: %v, %v", headers, err)
	}
	f.token.Tenants, f.token.Servers = []string{"*"}, []string{"mcp.example"}
	if headers, err := resolveHeaders(t, f.newResolver(), f.Tenant, c); err == nil || !strings.Contains(err.Error(), "isn't for this server") {
		t.Errorf("after the operator withdrew it: %v, %v", headers, err)
	}
}

// A test before the connector is saved sends the workload's token by the same rules, and stores nothing.
func TestWorkload_UnsavedConnectorIsTested(t *testing.T) {
	t.Parallel()
	f := newFederation(t)
	c := f.newConnector(t, "ours")
	c.ID = connectors.ConnectorID{}
	self, err := f.Door().Self(t.Context())
	must(t, err)
	f.token.Tenants = []string{self.Slug}
	r := f.newResolver()
	rows := f.Rows(t)
	headers, err := r.HeadersFor(t.Context(), f.Tenant, c, connectors.Secret{WorkloadToken: "ours"})
	if got := authorizationHeader(t, headers, err); got != "Bearer access-1" {
		t.Error(got)
	}
	if f.Rows(t) != rows {
		t.Error("something was stored")
	}
	if headers, err := r.HeadersFor(t.Context(), f.Other, c, connectors.Secret{WorkloadToken: "ours"}); err == nil || !strings.Contains(err.Error(), "offers no workload token") {
		t.Errorf("another tenant: %v, %v", headers, err)
	}
	c.URL = "https://elsewhere.example/mcp"
	if headers, err := r.HeadersFor(t.Context(), f.Tenant, c, connectors.Secret{WorkloadToken: "ours"}); err == nil || !strings.Contains(err.Error(), "isn't for this server") {
		t.Errorf("another server: %v, %v", headers, err)
	}
}

func TestWorkload_TokenIsReadForEachRequest(t *testing.T) {
	t.Parallel()
	f := newFederation(t)
	c, r := f.newConnector(t, "ours"), f.newResolver()
	for i, id := range []string{"first", "second"} {
		if id == "second" {
			f.writeToken(t, id, fmt.Sprintf(`"aud":[%q]`, f.as.URL+"/"), time.Hour)
			f.AsSystem(t, "update credentials set expires_at = now()", nil)
		}
		headers, err := resolveHeaders(t, r, f.Tenant, c)
		if got := authorizationHeader(t, headers, err); got != fmt.Sprint("Bearer access-", i+1) {
			t.Fatal(got)
		}
		for name, want := range map[string]string{"grant_type": oauth.GrantJWTBearer, "client_id": "workload", "resource": c.URL, "scope": "read"} {
			if got := f.requests[i].Get(name); got != want {
				t.Errorf("%s = %q, want %q", name, got, want)
			}
		}
		if got := f.requests[i].Get("assertion"); !strings.HasPrefix(got, id+".") || strings.HasSuffix(got, "\n") || f.requests[i].Has("client_secret") {
			t.Errorf("assertion %q", got)
		}
	}
	if strings.Contains(f.RowTexts(t), ".signature") {
		t.Error("the workload's token is stored")
	}
}

func TestWorkload_TokenGoesNowhereElse(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(*testing.T, *federation)
		draft  func(*federation, *connectors.Draft)
		chosen string
		says   string
	}{
		"unknown":                 {chosen: "theirs", says: "offers no workload token"},
		"a path":                  {chosen: "../token", says: "offers no workload token"},
		"of another tenant":       {change: func(_ *testing.T, f *federation) { f.token.Tenants = []string{"another"} }, says: "offers no workload token"},
		"of no tenant":            {change: func(_ *testing.T, f *federation) { f.token.Tenants = nil }, says: "offers no workload token"},
		"for another server":      {change: func(_ *testing.T, f *federation) { f.token.Servers = []string{"mcp.example"} }, says: "isn't for this server"},
		"an attacker's issuer":    {change: func(_ *testing.T, f *federation) { f.names = f.evil.URL }, says: "isn't for the authorization server"},
		"an admin's issuer":       {draft: func(f *federation, d *connectors.Draft) { d.OAuth.Issuer = f.evil.URL }, says: "come from metadata"},
		"the trusted issuer, set": {draft: func(f *federation, d *connectors.Draft) { d.OAuth.Issuer = f.as.URL }, says: "come from metadata"},
		"an admin's endpoint": {draft: func(f *federation, d *connectors.Draft) {
			d.OAuth.Issuer, d.OAuth.TokenEndpoint = f.as.URL, f.evil.URL+"/token"
		}, says: "come from metadata"},
		"an admin's resource": {draft: func(_ *federation, d *connectors.Draft) { d.OAuth.Resource = new("https://other.example/mcp") }, says: "come from metadata"},
		"without metadata":    {change: func(_ *testing.T, f *federation) { f.lacks = true }, says: "isn't valid OAuth"},
		"two audiences": {change: func(t *testing.T, f *federation) {
			f.writeToken(t, "x", fmt.Sprintf(`"aud":[%q,"https://other.example"]`, f.as.URL), time.Hour)
		}, says: "isn't for the authorization server"},
		"no audience": {change: func(t *testing.T, f *federation) { f.writeToken(t, "x", `"sub":"x"`, time.Hour) }, says: "isn't for the authorization server"},
		"expired": {change: func(t *testing.T, f *federation) {
			f.writeToken(t, "x", fmt.Sprintf(`"aud":%q`, f.as.URL), time.Second)
		}, says: "has expired"},
		"no file":  {change: func(t *testing.T, f *federation) { must(t, os.Remove(f.file)) }, says: "can't be read"},
		"a folder": {change: func(t *testing.T, f *federation) { f.token.File = t.TempDir() }, says: "can't be read"},
		"too large": {change: func(t *testing.T, f *federation) {
			must(t, os.WriteFile(f.file, []byte(strings.Repeat("x", 16<<10+1)), 0o600))
		}, says: "can't be read"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFederation(t)
			if tc.change != nil {
				tc.change(t, f)
			}
			chosen := tc.chosen
			if chosen == "" {
				chosen = "ours"
			}
			c := f.newConnector(t, chosen, func(d *connectors.Draft) {
				if tc.draft != nil {
					tc.draft(f, d)
				}
			})
			_, err := resolveHeaders(t, f.newResolver(), f.Tenant, c)
			if failed := fault.As(err); err == nil || !strings.Contains(failed.Message, tc.says) {
				t.Errorf("err = %v", err)
			}
			if len(f.requests) != 0 {
				t.Errorf("requests for tokens: %v", f.requests)
			}
		})
	}
}

func TestWorkload_RefusalIsNotRetried(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"invalid_grant", "invalid_scope", "unauthorized_client"} {
		f := newFederation(t)
		f.refuse = code
		c, r := f.newConnector(t, "ours"), f.newResolver()
		for range 2 {
			if _, err := resolveHeaders(t, r, f.Tenant, c); !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "refuses the workload's token") {
				t.Errorf("%s: %v", code, err)
			}
		}
		if len(f.requests) != 1 || strings.Contains(f.RowTexts(t), ".signature") {
			t.Errorf("%s: %d requests, and the rows %s", code, len(f.requests), f.RowTexts(t))
		}
	}
}
