package connect_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/oauth/oauthtest"
)

// foreignTokenEndpoint is a token endpoint at an origin of its own, and the number of its requests.
func foreignTokenEndpoint(t *testing.T) (string, *atomic.Int32) {
	t.Helper()
	var requests atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requests.Add(1)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"access_token":"a","token_type":"Bearer"}`))
	}))
	t.Cleanup(server.Close)
	return server.URL + "/token", &requests
}

// pinned makes a connector of the bundle's issuer with tokens from another endpoint.
func (b *bundle) pinned(t *testing.T, endpoint, clientID string) connectors.Connector {
	t.Helper()
	return b.protected(t, func(d *connectors.Draft) {
		d.OAuth = connectors.OAuthSettings{Issuer: b.as.Issuer, TokenEndpoint: endpoint, ClientID: clientID}
	})
}

func TestRegisteredClientStaysAtTheOriginOfItsIssuer(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{})
	b.connect(t, b.protected(t), nil) // registers a client with a secret
	client, err := b.St.Vault(b.Tenant).Registration(t.Context(), b.as.Issuer, baseURL+"/oauth/callback")
	must(t, err)
	endpoint, requests := foreignTokenEndpoint(t)
	for name, id := range map[string]string{
		"no client id": "", "the registered one": client.ClientID, "our document": baseURL + "/oauth/client-metadata.json",
	} {
		c := b.pinned(t, endpoint, id)
		_, err := b.broker.Start(t.Context(), b.admin, order(c, nil))
		if f := fault.As(err); f.Kind != fault.Upstream || f.Code != "refused" || !strings.Contains(f.Message, "needs its own client ID") {
			t.Errorf("%s: start: %v", name, err)
		}
		i, err := b.broker.ReadLink(t.Context(), b.link(t, c, nil, ""))
		must(t, err)
		if !strings.Contains(i.Problem, "needs its own client ID") {
			t.Errorf("%s: the link's page says %q", name, i.Problem)
		}
	}
	same := b.pinned(t, b.as.Origin()+"/other/token", "")
	if _, err := b.broker.Start(t.Context(), b.admin, order(same, nil)); err != nil {
		t.Errorf("an endpoint of the same origin: %v", err)
	}
	if n := requests.Load(); n != 0 {
		t.Errorf("the other origin got %d requests", n)
	}
}

func TestLink_EnteredClientAtOtherOrigin(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{})
	b.as.AddClient("by-hand", "", nil, baseURL+"/oauth/callback")
	endpoint, requests := foreignTokenEndpoint(t)
	c := b.pinned(t, endpoint, "by-hand")
	i, err := b.broker.ReadLink(t.Context(), b.link(t, c, nil, ""))
	must(t, err)
	if host := strings.TrimSuffix(strings.TrimPrefix(endpoint, "http://"), "/token"); i.TokenHost != host || i.Problem != "" {
		t.Errorf("the link's page names %q, want %q; %s", i.TokenHost, host, i.Problem)
	}
	b.connect(t, c, nil)
	if n := requests.Load(); n != 1 {
		t.Errorf("%d requests", n)
	}
}

// A flow that began before the check, and a pin that its row says nothing of.
func TestFlowOfARegisteredClientIsNotFinishedElsewhere(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{})
	endpoint, requests := foreignTokenEndpoint(t)
	c := b.protected(t)
	s := b.start(t, c, nil)
	back := b.agree(t, s)
	_, err := b.owner(t).Exec(t.Context(), "update oauth_flows set metadata = jsonb_set(metadata, '{token_endpoint}', to_jsonb($1::text))", endpoint)
	must(t, err)
	b.change(t, c, func(d *connectors.Draft) { d.OAuth.TokenEndpoint = endpoint })
	if _, err := b.broker.Finish(t.Context(), back, b.browser()); err == nil || !strings.Contains(fault.As(err).Message, "needs its own client ID") {
		t.Errorf("finish: %v", err)
	}
	if n := requests.Load(); n != 0 {
		t.Errorf("the other origin got %d requests", n)
	}
}
