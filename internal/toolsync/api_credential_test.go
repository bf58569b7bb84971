package toolsync_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"patchbay/internal/apiserver"
	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/mcp"
	"patchbay/internal/oauth"
	"patchbay/internal/oauth/oauthtest"
	"patchbay/internal/safehttp"
	"patchbay/internal/store"
)

// callAPI calls an operation of a server with the credential of an agent.
func (b *bundle) callAPI(t *testing.T, r *credentials.Resolver, c connectors.Connector, agent *connectors.AgentID, server string) {
	t.Helper()
	account, err := r.Open(t.Context(), b.Tenant, c, credentials.Account{Agent: agent})
	must(t, err)
	target, err := b.sync.Target(t.Context(), b.Tenant, c, account.Headers)
	must(t, err)
	session, err := (&mcp.Dialer{HTTP: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}, Version: "test"}).Dial(t.Context(), target)
	must(t, err)
	defer session.Close(context.Background())
	binding := `{"v":1,"method":"GET","server":"` + server + `","path":"/a"}`
	if _, err := session.Call(t.Context(), mcp.Call{Name: "a", Meta: apiserver.CallMeta(json.RawMessage(binding))}); err != nil {
		t.Fatal(err)
	}
}

// seenRequest is where a server found a credential.
func seenRequest(r *http.Request) string {
	return r.Header.Get("Authorization") + "|" + r.Header.Get("X-Key") + "|" + r.URL.RawQuery + "|" + r.Header.Get("Cookie")
}

func TestCredential_GoesToTheAPIAlone(t *testing.T) {
	t.Parallel()
	var got string
	record := func(_ http.ResponseWriter, r *http.Request) { got = seenRequest(r) }
	api, other := httptest.NewServer(http.HandlerFunc(record)), httptest.NewServer(http.HandlerFunc(record))
	t.Cleanup(api.Close)
	t.Cleanup(other.Close)
	b := newBundle(t)
	resolver := credentials.New(b.St)
	agent, stranger := b.Agent(t), b.Agent(t)
	for want, auth := range map[string]connectors.Auth{
		"|||":                   {Type: connectors.AuthNone},
		"Bearer s3cret|||":      {Type: connectors.AuthBearer},
		"Basic dXNlcjpwYXNz|||": {Type: connectors.AuthBasic},
		"|s3cret||":             {Type: connectors.AuthAPIKey, Header: "X-Key"},
		"||key=s3cret|":         {Type: connectors.AuthAPIKey, Header: "key", In: connectors.KeyInQuery},
		"|||sid=s3cret":         {Type: connectors.AuthAPIKey, Header: "sid", In: connectors.KeyInCookie},
	} {
		for _, mode := range []connectors.CredentialMode{connectors.CredentialShared, connectors.CredentialPerAgent} {
			c := b.addConnector(t, "https://documents.example.com/openapi.json", func(d *connectors.Draft) {
				d.Transport, d.Auth, d.CredentialMode, d.ServerURL = connectors.TransportAPI, auth, mode, api.URL+"/v1"
			})
			owner := &agent.ID
			if mode == connectors.CredentialShared {
				owner = nil
			}
			if auth.Type != connectors.AuthNone {
				s := map[connectors.AuthType]connectors.Secret{
					connectors.AuthBearer: {Token: "s3cret"}, connectors.AuthBasic: {Username: "user", Password: "pass"}, connectors.AuthAPIKey: {Key: "s3cret"},
				}[auth.Type]
				sealed, err := s.Encode()
				must(t, err)
				must(t, b.Door().Connectors().SetCredential(t.Context(), store.NewCredential{
					ConnectorID: c.ID, AgentID: owner, Type: auth.Type, Origin: c.CredentialOrigin(), Secret: sealed,
				}))
			}
			if b.callAPI(t, resolver, c, &agent.ID, api.URL+"/v1"); got != want {
				t.Errorf("%v %s: the API got %q, want %q", auth, mode, got, want)
			}
			if b.callAPI(t, resolver, c, &agent.ID, other.URL); got != "|||" {
				t.Errorf("%v %s: another server got %q", auth, mode, got)
			}
			if _, err := resolver.Open(t.Context(), b.Tenant, c, credentials.Account{Agent: &stranger.ID}); (err == nil) != (owner == nil || auth.Type == connectors.AuthNone) {
				t.Errorf("%v %s: another agent: %v", auth, mode, err)
			}
			moved := c
			moved.ServerURL = other.URL
			if auth.Type != connectors.AuthNone {
				if _, err := resolver.Open(t.Context(), b.Tenant, moved, credentials.Account{Agent: &agent.ID}); err == nil {
					t.Errorf("%v %s: the credential moved along", auth, mode)
				}
			}
		}
	}
}

func TestCredential_IsNotInAnswers(t *testing.T) {
	t.Parallel()
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]string{"seen": seenRequest(r), "bare": strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), "team": r.Header.Get("X-Team")})
	}))
	t.Cleanup(api.Close)
	b := newBundle(t)
	for name, h := range map[string]credentials.Header{
		"bearer": {Name: "Authorization", Value: "Bearer s3cret/key", In: connectors.KeyInHeader},
		"header": {Name: "X-Key", Value: "s3cret\"key", In: connectors.KeyInHeader},
		"query":  {Name: "key", Value: "s3cret key", In: connectors.KeyInQuery},
		"cookie": {Name: "sid", Value: "s3cret-key", In: connectors.KeyInCookie},
		"media":  {Name: "X-Key", Value: "application/json", In: connectors.KeyInHeader},
	} {
		c := b.addConnector(t, "https://documents.example.com/openapi.json", func(d *connectors.Draft) {
			d.Transport, d.ServerURL, d.Headers = connectors.TransportAPI, api.URL, map[string]string{"X-Team": "platform-eu"}
		})
		target, err := b.sync.Target(t.Context(), b.Tenant, c, []credentials.Header{h})
		must(t, err)
		session, err := (&mcp.Dialer{HTTP: api.Client(), Version: "test"}).Dial(t.Context(), target)
		must(t, err)
		defer session.Close(context.Background())
		binding := `{"v":1,"method":"GET","server":"` + api.URL + `","path":"/a","result":"object"}`
		answer, err := session.Call(t.Context(), mcp.Call{Name: "a", Meta: apiserver.CallMeta(json.RawMessage(binding))})
		must(t, err)
		if said := string(answer.Content) + string(answer.Structured); strings.Contains(said, "s3cret") || !strings.Contains(said, "[redacted]") || !strings.Contains(string(answer.Structured), "platform-eu") {
			t.Errorf("%s: the answer is %s", name, said)
		}
	}
}

func TestCredential_OfAMachineHasTheScopesOfItsOperations(t *testing.T) {
	t.Parallel()
	var got string
	as := oauthtest.Start(t, oauthtest.Behaviour{RefuseResource: true})
	api := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		scopes, ok := as.Accepts(r.Header.Get("Authorization")[len("Bearer "):])
		if ok {
			got = scopes[0]
		}
	}))
	t.Cleanup(api.Close)
	as.AddClient("client", "s3cret", nil)
	b := newBundle(t)
	egress := safehttp.New(safehttp.Options{Mode: safehttp.Local})
	t.Cleanup(egress.Client().CloseIdleConnections)
	resolver := credentials.NewRefreshing(credentials.Options{
		Store: b.St, OAuth: &oauth.Client{HTTP: egress.Client(), CheckURL: egress.CheckURL, Timeout: patience},
	})
	for _, overrides := range []connectors.OAuthSettings{{TokenEndpoint: as.Origin() + "/token"}, {Issuer: as.Issuer}} {
		c := b.addConnector(t, api.URL, machineDraft, func(d *connectors.Draft) {
			d.Transport, d.OAuth = connectors.TransportAPI, overrides
			d.OAuth.ClientID = "client"
		})
		sealed, err := connectors.Secret{ClientSecret: "s3cret"}.Encode()
		must(t, err)
		must(t, b.Door().Connectors().SetCredential(t.Context(), store.NewCredential{
			ConnectorID: c.ID, Type: c.Auth.Type, Origin: c.CredentialOrigin(), Secret: sealed,
		}))
		must(t, b.Door().APIs().SaveTools(t.Context(), c.ID, []connectors.APITool{{Key: "GET /a", Scopes: []string{"notes"}}}))
		got = ""
		if b.callAPI(t, resolver, c, nil, api.URL); got != "notes" {
			t.Errorf("%+v: the API got a token for %q", overrides, got)
		}
	}
	for _, r := range as.Requests(oauthtest.ClientCredentials) {
		if r.Form.Has("resource") || r.Form.Get("scope") != "notes" {
			t.Errorf("the token request is %v", r.Form)
		}
	}
}
