package oauth_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/oauth"
	"patchbay/internal/oauth/oauthtest"
)

func TestTheResourceDocumentIsLookedForInOrder(t *testing.T) {
	t.Parallel()
	const known = "/.well-known/oauth-protected-resource"
	for name, test := range map[string]struct {
		resource  oauthtest.ResourceBehaviour
		challenge string // below the resource's origin
		want      []string
	}{
		"challenge":               {challenge: known + "/mcp", want: []string{known + "/mcp"}},
		"challenge leads nowhere": {challenge: "/.well-known/x", want: []string{"/.well-known/x", known + "/mcp"}},
		"path":                    {want: []string{known + "/mcp"}},
		"root":                    {resource: oauthtest.ResourceBehaviour{Metadata: oauthtest.AtRoot}, want: []string{known + "/mcp", known}},
		"none":                    {resource: oauthtest.ResourceBehaviour{Metadata: oauthtest.NoMetadata, OnServer: true}, want: []string{known + "/mcp", known}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			as := oauthtest.Start(t, oauthtest.Behaviour{})
			mcp := as.Protect(t, test.resource)
			target := oauth.Target{ServerURL: mcp.URL}
			if test.challenge != "" {
				target.ResourceMetadata = strings.TrimSuffix(mcp.URL, "/mcp") + test.challenge
			}
			d, err := newClient(t).Discover(t.Context(), target)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, mcp.Looked()); diff != "" {
				t.Errorf("looks (-want +got):\n%s", diff)
			}
			if d.Server.TokenEndpoint != as.Issuer+"/token" {
				t.Errorf("server: %+v", d.Server)
			}
		})
	}
}

func TestTheResourceIsTheServerOrAParent(t *testing.T) {
	t.Parallel()
	as := oauthtest.Start(t, oauthtest.Behaviour{})
	mcp := as.Protect(t, oauthtest.ResourceBehaviour{Path: "/a/mcp"})
	origin := strings.TrimSuffix(mcp.URL, "/a/mcp")
	port := origin[strings.LastIndexByte(origin, ':'):]
	for resource, accepted := range map[string]bool{
		origin + "/a/mcp":                  true,
		origin + "/a/mcp/":                 true,
		origin + "/a":                      true,
		origin + "/a/":                     true,
		origin:                             true,
		origin + "/":                       true,
		"HTTP" + origin[4:] + "/a/mcp":     true,
		origin + "/a/mcp//":                false,
		origin + "/a/mc":                   false,
		origin + "/a/mcp/more":             false,
		origin + "/b":                      false,
		origin + "/A":                      false,
		origin + "/a/mcp?tenant=1":         false,
		origin + "/a/mcp#x":                false,
		origin + "/a/../a":                 false,
		origin + "/a/%2e%2e":               false,
		"https" + origin[4:] + "/a/mcp":    false,
		"http://localhost" + port + "/a":   false,
		"http://user@127.0.0.1" + port:     false,
		"https://victim.example/mcp":       false,
		"urn:example:mcp":                  false,
		"/a/mcp":                           false,
		"http://127.0.0.1.evil.example/":   false,
		"http://127.0.0.1" + port + "\\@x": false,
	} {
		mcp.Set(func(b *oauthtest.ResourceBehaviour) { b.Resource = resource })
		d, err := newClient(t).Discover(t.Context(), oauth.Target{ServerURL: mcp.URL})
		if accepted {
			if err != nil || d.Resource != resource {
				t.Errorf("%s: sent as %q, error %v", resource, d.Resource, err)
			}
			continue
		}
		if err == nil {
			t.Errorf("%s was accepted", resource)
			continue
		}
		wantKind(t, err, oauth.KindRefused)
		if d.Resource != "" || d.Server.TokenEndpoint != "" || len(d.Trace) == 0 {
			t.Errorf("%s: %+v", resource, d)
		}
	}
	if n := as.Count(oauthtest.MetadataRequest); n != 7 {
		t.Errorf("the authorization server was asked %d times, want once per accepted resource", n)
	}
}

func TestTheServersDocumentIsLookedForInOrder(t *testing.T) {
	t.Parallel()
	const as8414, oidc = "/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"
	for name, test := range map[string]struct {
		behaviour oauthtest.Behaviour
		want      []string
	}{
		"RFC 8414":             {oauthtest.Behaviour{}, []string{as8414}},
		"OpenID":               {oauthtest.Behaviour{WellKnown: oauthtest.AtOpenID}, []string{as8414, oidc}},
		"RFC 8414 with a path": {oauthtest.Behaviour{IssuerPath: "/t"}, []string{as8414 + "/t"}},
		"OpenID inserted":      {oauthtest.Behaviour{IssuerPath: "/t", WellKnown: oauthtest.AtOpenID}, []string{as8414 + "/t", oidc + "/t"}},
		"OpenID appended":      {oauthtest.Behaviour{IssuerPath: "/t", WellKnown: oauthtest.AtOpenIDAppended}, []string{as8414 + "/t", oidc + "/t", "/t" + oidc}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			as := oauthtest.Start(t, test.behaviour)
			newFlowTo(t, as.Protect(t, oauthtest.ResourceBehaviour{}).URL)
			var got []string
			for _, r := range as.Requests(oauthtest.MetadataRequest) {
				got = append(got, r.Path)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("looks (-want +got):\n%s", diff)
			}
		})
	}
}

func newFlowTo(t testing.TB, url string) *flow {
	t.Helper()
	f := newFlow(t)
	f.discover(oauth.Target{ServerURL: url})
	return f
}

func TestDiscover_ForeignDocument(t *testing.T) {
	t.Parallel()
	as := oauthtest.Start(t, oauthtest.Behaviour{DocumentIssuer: "https://other.example/tenant"})
	mcp := as.Protect(t, oauthtest.ResourceBehaviour{})
	d, err := newClient(t).Discover(t.Context(), oauth.Target{ServerURL: mcp.URL})
	failure := wantKind(t, err, oauth.KindRefused)
	for _, issuer := range []string{as.Issuer, "https://other.example/tenant"} {
		if !strings.Contains(failure.Detail, issuer) {
			t.Errorf("%q does not name %s", failure.Detail, issuer)
		}
	}
	if d.Server.TokenEndpoint != "" {
		t.Errorf("the document was used: %+v", d.Server)
	}
}

func TestDiscover_OverridesForeignDocument(t *testing.T) {
	t.Parallel()
	as := oauthtest.Start(t, oauthtest.Behaviour{DocumentIssuer: "https://other.example", NoPKCE: true})
	as.AddClient("by-hand", "secret", nil, redirectURI)
	mcp := as.Protect(t, oauthtest.ResourceBehaviour{})
	f := newFlow(t)
	f.discover(oauth.Target{ServerURL: mcp.URL, Overrides: oauth.Overrides{
		AuthorizationEndpoint: as.Issuer + "/authorize", TokenEndpoint: as.Issuer + "/token",
		TokenEndpointAuthMethod: oauth.AuthPost,
	}})
	f.register(oauth.RegisterRequest{Configured: oauth.Registration{ClientID: "by-hand", ClientSecret: "secret"}})
	if err := f.exchange(f.authorize()); err != nil {
		t.Fatal(err)
	}
	if got := as.Requests(oauthtest.Exchange)[0].Form.Get("client_secret"); got != "secret" {
		t.Errorf("the secret was sent as %q, want by post", got)
	}
}

func TestAnAdminsIssuerComesBeforeTheNamedOne(t *testing.T) {
	t.Parallel()
	as, other := oauthtest.Start(t, oauthtest.Behaviour{}), oauthtest.Start(t, oauthtest.Behaviour{})
	mcp := other.Protect(t, oauthtest.ResourceBehaviour{})
	f := newFlow(t)
	f.discover(oauth.Target{ServerURL: mcp.URL, Overrides: oauth.Overrides{Issuer: as.Issuer + "/"}})
	if f.Discovery.Server.Issuer != as.Issuer || other.Count(oauthtest.MetadataRequest) != 0 {
		t.Errorf("issuer %s, the other was asked %d times", f.Discovery.Server.Issuer, other.Count(oauthtest.MetadataRequest))
	}
}

func TestDiscover_TriesNextServer(t *testing.T) {
	t.Parallel()
	as, down := oauthtest.Start(t, oauthtest.Behaviour{}), oauthtest.Start(t, oauthtest.Behaviour{WellKnown: oauthtest.Failing})
	mcp := as.Protect(t, oauthtest.ResourceBehaviour{Servers: []string{"javascript:alert(1)", down.Issuer, as.Issuer}})
	if f := newFlowTo(t, mcp.URL); f.Discovery.Server.Issuer != as.Issuer {
		t.Errorf("issuer %s", f.Discovery.Server.Issuer)
	}
}

func TestWhatIsNotPublishedIsNotSent(t *testing.T) {
	t.Parallel()
	as := oauthtest.Start(t, oauthtest.Behaviour{})
	for name, document := range map[string]string{
		"no resource": `{"authorization_servers":["` + as.Issuer + `"]}`,
		"no document": "",
	} {
		mcp := as.Protect(t, oauthtest.ResourceBehaviour{Path: "/" + strings.ReplaceAll(name, " ", "-"), Metadata: oauthtest.NoMetadata})
		target := oauth.Target{ServerURL: mcp.URL, ResourceMetadata: respond(t, http.StatusOK, "", document)}
		if document == "" {
			target.Overrides.Issuer = as.Issuer
		}
		d, err := newClient(t).Discover(t.Context(), target)
		if err != nil || d.Resource != "" || d.Server.Issuer != as.Issuer {
			t.Errorf("%s: resource %q, issuer %s, %v", name, d.Resource, d.Server.Issuer, err)
		}
		mine := "urn:mine"
		target.Overrides.Resource = &mine
		if d, err = newClient(t).Discover(t.Context(), target); err != nil || d.Resource != mine {
			t.Errorf("%s: resource %q, want the connector's, %v", name, d.Resource, err)
		}
	}
}

// The default endpoints are for servers without documents, not for servers that are down.
func TestNothingIsAssumedOfAServerThatIsDown(t *testing.T) {
	t.Parallel()
	as := oauthtest.Start(t, oauthtest.Behaviour{WellKnown: oauthtest.Failing})
	mcp := as.Protect(t, oauthtest.ResourceBehaviour{OnServer: true, Metadata: oauthtest.NoMetadata})
	_, err := newClient(t).Discover(t.Context(), oauth.Target{ServerURL: mcp.URL})
	if failure := wantKind(t, err, oauth.KindTemporary); failure.HTTPStatus != http.StatusServiceUnavailable {
		t.Errorf("%+v", failure)
	}
	as.Stop()
	_, err = newClient(t).Discover(t.Context(), oauth.Target{ServerURL: mcp.URL})
	wantKind(t, err, oauth.KindTemporary)
}

func TestASlowServerIsGivenUp(t *testing.T) {
	t.Parallel()
	slow := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	t.Cleanup(slow.Close)
	c := newClient(t)
	c.Timeout = 20 * time.Millisecond
	_, err := c.Discover(t.Context(), oauth.Target{ServerURL: slow.URL + "/mcp"})
	if failure := wantKind(t, err, oauth.KindTemporary); failure.Detail != "a timeout" {
		t.Errorf("%+v", failure)
	}
}

func TestFieldsOfAWrongTypeCountAsMissing(t *testing.T) {
	t.Parallel()
	as := oauthtest.Start(t, oauthtest.Behaviour{Edit: func(d oauthtest.Document) {
		d["scopes_supported"] = "read"
		d["grant_types_supported"] = map[string]any{"a": 1}
		d["token_endpoint_auth_methods_supported"] = []any{1, "none", nil}
		d["revocation_endpoint"] = 7
		d["client_id_metadata_document_supported"] = "true"
	}})
	m := newFlowTo(t, as.Protect(t, oauthtest.ResourceBehaviour{}).URL).Discovery.Server
	want := oauth.Metadata{
		Issuer: as.Issuer, AuthorizationEndpoint: as.Issuer + "/authorize", TokenEndpoint: as.Issuer + "/token",
		RegistrationEndpoint: as.Issuer + "/register", ScopesSupported: []string{"read"},
		TokenEndpointAuthMethods: []string{"none"}, CodeChallengeMethodsSupported: []string{"S256"},
		ClientIDMetadataDocumentSupported: true,
	}
	if diff := cmp.Diff(want, m); diff != "" {
		t.Errorf("metadata (-want +got):\n%s", diff)
	}
}

func TestTheTraceTellsWhatWasTried(t *testing.T) {
	t.Parallel()
	as := oauthtest.Start(t, oauthtest.Behaviour{WellKnown: oauthtest.AtOpenID})
	mcp := as.Protect(t, oauthtest.ResourceBehaviour{Metadata: oauthtest.AtRoot})
	f := newFlow(t)
	f.discover(oauth.Target{ServerURL: mcp.URL + "?key=hunter2", ResourceMetadata: "file:///etc/passwd"})
	resource := strings.TrimSuffix(mcp.URL, "/mcp") + "/.well-known/oauth-protected-resource"
	want := []oauth.TraceStep{
		{Step: oauth.StepResource, URL: "(not a plain URL)", Read: "its URL is not an http or https URL", Decided: "No document; trying the next."},
		{Step: oauth.StepResource, URL: resource + "/mcp?…", Status: 404, Read: "an error", Decided: "No document; trying the next."},
		{Step: oauth.StepResource, URL: resource, Status: 200, Read: "protected-resource metadata", Decided: "The resource's own document."},
		{Step: oauth.StepServer, URL: as.Issuer + "/.well-known/oauth-authorization-server", Status: 404, Read: "an error", Decided: "No document; trying the next."},
		{Step: oauth.StepServer, URL: as.Issuer + "/.well-known/openid-configuration", Status: 200, Read: "authorization-server metadata", Decided: "Authorization server found."},
	}
	if diff := cmp.Diff(want, f.Discovery.Trace); diff != "" {
		t.Errorf("trace (-want +got):\n%s", diff)
	}
}
