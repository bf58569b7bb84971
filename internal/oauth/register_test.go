package oauth_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/oauth"
	"patchbay/internal/oauth/oauthtest"
)

const documentURL = "https://patchbay.example/oauth/client-metadata.json"

func TestTheOrderOfClientIDs(t *testing.T) {
	t.Parallel()
	configured := oauth.Registration{ClientID: "by-hand", ClientSecret: "s"}
	for name, test := range map[string]struct {
		server     oauthtest.Behaviour
		configured oauth.Registration
		document   string
		want       oauth.Source
		method     oauth.AuthMethod
		requests   int
	}{
		"configured first": {oauthtest.Behaviour{ClientDocuments: true}, configured, documentURL, oauth.SourceConfigured, oauth.AuthBasic, 0},
		"configured, public": {
			oauthtest.Behaviour{}, oauth.Registration{ClientID: "by-hand"}, "", oauth.SourceConfigured, oauth.AuthNone, 0,
		},
		"configured, post only": {
			oauthtest.Behaviour{AuthMethods: []string{"none", "client_secret_post"}}, configured, "", oauth.SourceConfigured, oauth.AuthPost, 0,
		},
		"document":             {oauthtest.Behaviour{ClientDocuments: true}, oauth.Registration{}, documentURL, oauth.SourceMetadataDocument, oauth.AuthNone, 0},
		"document unsupported": {oauthtest.Behaviour{}, oauth.Registration{}, documentURL, oauth.SourceDynamic, oauth.AuthBasic, 1},
		"document not public": {
			oauthtest.Behaviour{ClientDocuments: true}, oauth.Registration{}, "http://127.0.0.1:8080/oauth/client-metadata.json",
			oauth.SourceDynamic, oauth.AuthBasic, 1,
		},
		"document without a path": {
			oauthtest.Behaviour{ClientDocuments: true}, oauth.Registration{}, "https://patchbay.example/", oauth.SourceDynamic, oauth.AuthBasic, 1,
		},
		"dynamic, public": {oauthtest.Behaviour{PublicClients: true}, oauth.Registration{}, "", oauth.SourceDynamic, oauth.AuthNone, 1},
		"dynamic, scopes refused": {
			oauthtest.Behaviour{RefuseScopesRegister: true}, oauth.Registration{}, "", oauth.SourceDynamic, oauth.AuthBasic, 2,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			as := oauthtest.Start(t, test.server)
			f := newFlowTo(t, as.Protect(t, oauthtest.ResourceBehaviour{}).URL)
			f.register(oauth.RegisterRequest{Configured: test.configured, DocumentURL: test.document, Scopes: []string{"read"}})
			got := f.Peer.Client
			if got.Source != test.want || got.Method != test.method || got.Issuer != as.Issuer || got.ClientID == "" {
				t.Errorf("%+v, want %s by %s", got, test.want, test.method)
			}
			if n := as.Count(oauthtest.Register); n != test.requests {
				t.Errorf("%d registrations, want %d", n, test.requests)
			}
		})
	}
}

func TestRegister_NeedsClientID(t *testing.T) {
	t.Parallel()
	for name, b := range map[string]oauthtest.Behaviour{
		"no endpoint":        {NoRegistration: true},
		"nothing there":      {RegistrationStatus: http.StatusNotFound},
		"no such method":     {RegistrationStatus: http.StatusMethodNotAllowed},
		"for the known only": {RegistrationStatus: http.StatusUnauthorized},
		"forbidden":          {RegistrationStatus: http.StatusForbidden},
		"assumed and absent": {RegistrationStatus: http.StatusNotFound, WellKnown: oauthtest.Nowhere},
	} {
		as := oauthtest.Start(t, b)
		f := newFlowTo(t, as.Protect(t, oauthtest.ResourceBehaviour{OnServer: true, Metadata: oauthtest.NoMetadata}).URL)
		_, err := f.Register(t.Context(), oauth.RegisterRequest{Server: f.Peer.Server, RedirectURIs: []string{redirectURI}})
		if failure := wantKind(t, err, oauth.KindNeedsClientID); !strings.Contains(failure.Sentence(), "Enter a client ID") {
			t.Errorf("%s: %s", name, failure.Sentence())
		}
	}
}

func TestAFailedRegistrationIsTyped(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]struct {
		status int
		kind   oauth.Kind
		code   string
	}{
		`{"error":"invalid_redirect_uri","error_description":"REFLECTED"}`: {400, oauth.KindRejected, "invalid_redirect_uri"},
		`{"error":"REFLECTED"}`:                      {400, oauth.KindRejected, ""},
		`{"error":"server_error"}`:                   {500, oauth.KindTemporary, ""},
		`<html>REFLECTED`:                            {200, oauth.KindProtocol, ""},
		`{"client_secret":"x"}`:                      {201, oauth.KindProtocol, ""},
		`{"client_id":"a\nb"}`:                       {201, oauth.KindProtocol, ""},
		`{"error":"invalid_client_metadata"}`:        {200, oauth.KindRejected, "invalid_client_metadata"},
		`{"client_id":7}`:                            {201, oauth.KindProtocol, ""},
		`{}`:                                         {429, oauth.KindTemporary, ""},
		`{"error":"invalid_client_metadata", "x":1}`: {302, oauth.KindProtocol, ""},
	} {
		m := oauth.Metadata{Issuer: "https://as.example", RegistrationEndpoint: respond(t, want.status, "", answer)}
		_, err := newClient(t).Register(t.Context(), oauth.RegisterRequest{Server: m, RedirectURIs: []string{redirectURI}})
		if failure := wantKind(t, err, want.kind); failure.Code != want.code || failure.Step != oauth.StepRegister {
			t.Errorf("%s: %+v", answer, failure)
		}
	}
}

func TestARegistrationIsNoLongerThanWeTake(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		id, secret int
		ok         bool
	}{"longest": {2048, 16 << 10, true}, "id": {2049, 0, false}, "secret": {1, 16<<10 + 1, false}} {
		body := `{"client_id":"` + strings.Repeat("i", test.id) + `","client_secret":"` + strings.Repeat("s", test.secret) + `"}`
		m := oauth.Metadata{Issuer: "https://as.example", RegistrationEndpoint: respond(t, http.StatusCreated, "", body)}
		client, err := newClient(t).Register(t.Context(), oauth.RegisterRequest{Server: m, RedirectURIs: []string{redirectURI}})
		if test.ok && (err != nil || len(client.ClientID) != test.id || len(client.ClientSecret) != test.secret) {
			t.Errorf("%s: %d and %d bytes, %v", name, len(client.ClientID), len(client.ClientSecret), err)
		}
		if !test.ok {
			wantKind(t, err, oauth.KindProtocol)
		}
	}
}

// respond is the URL of a server that says one thing.
func respond(t testing.TB, status int, contentType, body string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if contentType != "" {
			w.Header().Set("Content-Type", contentType)
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func TestWhatIsRegistered(t *testing.T) {
	t.Parallel()
	as := oauthtest.Start(t, oauthtest.Behaviour{AuthMethods: []string{"none", "client_secret_post"}})
	f := newFlowTo(t, as.Protect(t, oauthtest.ResourceBehaviour{}).URL)
	f.register(oauth.RegisterRequest{Scopes: []string{"read", "write"}})
	var got map[string]any
	if err := json.Unmarshal([]byte(as.Requests(oauthtest.Register)[0].Body), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"application_type": "web", "client_name": "Patchbay", "redirect_uris": []any{redirectURI},
		"grant_types": []any{"authorization_code", "refresh_token"}, "response_types": []any{"code"},
		"token_endpoint_auth_method": "client_secret_post", "scope": "read write",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("document (-want +got):\n%s", diff)
	}
}

func TestOurClientDocumentNamesItself(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(oauth.NewClientDocument(documentURL, "Patchbay", "https://patchbay.example", redirectURI))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"client_id":"` + documentURL + `","client_name":"Patchbay","client_uri":"https://patchbay.example",` +
		`"application_type":"web","redirect_uris":["` + redirectURI + `"],"grant_types":["authorization_code","refresh_token"],` +
		`"response_types":["code"],"token_endpoint_auth_method":"none"}`
	if diff := cmp.Diff(want, string(text)); diff != "" {
		t.Errorf("document (-want +got):\n%s", diff)
	}
}

func TestAPurgedClientIsToldFromADeadGrant(t *testing.T) {
	t.Parallel()
	as := oauthtest.Start(t, oauthtest.Behaviour{})
	f := connected(t, as)
	as.ForgetClients()
	_, err := f.Refresh(t.Context(), f.Peer, f.Token.RefreshToken)
	if failure := wantKind(t, err, oauth.KindClient); failure.Code != "invalid_client" {
		t.Errorf("%+v", failure)
	}
}

func TestAClientIsNeverShownToAnotherIssuer(t *testing.T) {
	t.Parallel()
	as, other := oauthtest.Start(t, oauthtest.Behaviour{}), oauthtest.Start(t, oauthtest.Behaviour{})
	f := connected(t, as)
	f.Peer.Server = newFlowTo(t, other.Protect(t, oauthtest.ResourceBehaviour{}).URL).Peer.Server
	_, err := f.Refresh(t.Context(), f.Peer, f.Token.RefreshToken)
	wantKind(t, err, oauth.KindRefused)
	wantKind(t, f.Revoke(t.Context(), f.Peer, f.Token.RefreshToken, oauth.HintRefreshToken), oauth.KindRefused)
	_, err = f.AuthorizationURL(oauth.AuthorizationRequest{Peer: f.Peer, RedirectURI: redirectURI, State: f.State})
	wantKind(t, err, oauth.KindRefused)
	if n := other.Count(oauthtest.Refresh, oauthtest.Revoke); n != 0 {
		t.Errorf("the other server was sent %d requests", n)
	}
}

func TestRegisteredClientIsNotShownToAnotherOrigin(t *testing.T) {
	t.Parallel()
	as, other := oauthtest.Start(t, oauthtest.Behaviour{}), newTrap(t)
	mcp := as.Protect(t, oauthtest.ResourceBehaviour{})
	f := newFlowTo(t, mcp.URL)
	f.register(oauth.RegisterRequest{})
	back := f.authorize()
	f.Peer.Server.PinTokenEndpoint(other.URL + "/token")
	wantKind(t, f.exchange(back), oauth.KindRefused)
	_, err := f.Refresh(t.Context(), f.Peer, "refresh")
	wantKind(t, err, oauth.KindRefused)
	_, err = f.Register(t.Context(), oauth.RegisterRequest{Server: f.Peer.Server, RedirectURIs: []string{redirectURI}})
	wantKind(t, err, oauth.KindRefused)
	if n := other.hits.Load(); n != 0 {
		t.Errorf("the other origin got %d requests", n)
	}
}

func TestMetadataKnowsAForeignTokenEndpoint(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		m    oauth.Metadata
		pin  string
		want bool
	}{
		"none pinned":                   {oauth.Metadata{Issuer: "https://a.example", TokenEndpoint: "https://b.example/token"}, "", false},
		"as the document says":          {oauth.Metadata{Issuer: "https://a.example", TokenEndpoint: "https://b.example/token"}, "https://b.example/other", false},
		"at the issuer, not as it says": {oauth.Metadata{Issuer: "https://a.example", TokenEndpoint: "https://b.example/token"}, "https://a.example/token", true},
		"at the issuer of no document":  {oauth.Metadata{Issuer: "https://a.example"}, "https://a.example:443/token", false},
		"elsewhere":                     {oauth.Metadata{Issuer: "https://a.example"}, "https://evil.example/token", true},
		"another port":                  {oauth.Metadata{Issuer: "https://a.example"}, "https://a.example:8443/token", true},
		"plain http":                    {oauth.Metadata{Issuer: "https://a.example"}, "http://a.example/token", true},
	} {
		if tc.pin != "" {
			tc.m.PinTokenEndpoint(tc.pin)
		}
		if got := tc.m.HasForeignTokenEndpoint(); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
