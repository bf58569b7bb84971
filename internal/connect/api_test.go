package connect_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connect"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/oauth/oauthtest"
)

// addAPI makes a connector to an HTTP API at a server that would name an authorization server.
func (b *bundle) addAPI(t *testing.T, opts ...func(*connectors.Draft)) connectors.Connector {
	t.Helper()
	b.as.AddClient("client", "s3cret", nil, b.broker.RedirectURI())
	c := b.protected(t, append([]func(*connectors.Draft){func(d *connectors.Draft) {
		d.Transport, d.OAuth.ClientID = connectors.TransportAPI, "client"
		d.OAuth.AuthorizationEndpoint, d.OAuth.TokenEndpoint = b.as.Origin()+"/authorize", b.as.Origin()+"/token"
	}}, opts...)...)
	must(t, b.Door().Connectors().SetClientSecret(t.Context(), c, "s3cret"))
	must(t, b.Door().APIs().SaveTools(t.Context(), c.ID, []connectors.APITool{
		{Key: "GET /a", Scopes: []string{"read"}}, {Key: "PUT /a", Scopes: []string{"write", "read"}}, {Key: "GET /b"},
	}))
	return c
}

func TestConnect_AnHTTPAPIIsNotMCP(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{RefuseResource: true, Rotate: true}, oauthtest.ResourceBehaviour{})
	c := b.addAPI(t, func(d *connectors.Draft) { d.ServerURL = "https://api.example.com/v1" })

	b.connect(t, c, nil)

	g := b.grant(t, c, nil)
	if g.Origin != "https://api.example.com:443" || g.Tokens.AccessToken.Empty() || !slices.Equal(g.Scopes, []string{"read", "write"}) {
		t.Errorf("the account is for %s with %v", g.Origin, g.Scopes)
	}
	kinds := map[oauthtest.Kind]int{}
	for _, r := range b.as.Requests() {
		kinds[r.Kind]++
		if r.Query.Has("resource") || r.Form.Has("resource") {
			t.Errorf("%s has a resource", r.Kind)
		}
		if r.Kind == oauthtest.Authorize && (r.Query.Get("scope") != "read write" || r.Query.Get("code_challenge") == "") {
			t.Errorf("the authorization request is %v", r.Query)
		}
	}
	if diff := cmp.Diff(map[oauthtest.Kind]int{oauthtest.Authorize: 1, oauthtest.Exchange: 1}, kinds); diff != "" {
		t.Error(diff)
	}
	if len(b.mcp.Looked())+len(b.mcp.Tokens()) != 0 {
		t.Errorf("the API was asked for %v", b.mcp.Looked())
	}
}

func TestConnect_AnHTTPAPIPerAgentWithItsIssuer(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{NeedResource: true}, oauthtest.ResourceBehaviour{})
	resource := "https://api.example.com"
	c := b.addAPI(t, perAgent, func(d *connectors.Draft) {
		d.OAuth.Issuer, d.OAuth.AuthorizationEndpoint, d.OAuth.TokenEndpoint = b.as.Issuer, "", ""
		d.OAuth.Scopes, d.OAuth.Resource = []string{"mine"}, &resource
	})
	agent := b.Agent(t)
	b.connect(t, c, agentRef(agent))
	if g := b.grant(t, c, &agent.ID); !slices.Equal(g.Scopes, []string{"mine"}) || g.Tokens.Meta.Resource != resource {
		t.Errorf("the account has %v for %q", g.Scopes, g.Tokens.Meta.Resource)
	}
	if len(b.mcp.Looked()) != 0 {
		t.Errorf("the API was asked for %v", b.mcp.Looked())
	}
}

func TestConnect_AnHTTPAPINeedsItsServer(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{})
	c := b.addAPI(t, func(d *connectors.Draft) { d.OAuth.AuthorizationEndpoint, d.OAuth.TokenEndpoint = "", "" })
	_, err := b.broker.Start(t.Context(), b.admin, connect.StartRequest{Connector: ref(c.ID), Browser: session})
	if err == nil || !strings.Contains(fault.As(err).Message, "enter its token endpoint or its issuer") {
		t.Errorf("the error is %v", err)
	}
	if n := len(b.as.Requests()); n != 0 {
		t.Errorf("%d requests", n)
	}
}
