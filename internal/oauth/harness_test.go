package oauth_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"patchbay/internal/oauth"
	"patchbay/internal/oauth/oauthtest"
	"patchbay/internal/safehttp"
)

const redirectURI = "https://patchbay.example/oauth/callback"

// newClient speaks to this machine's loopback, as the program does for a developer.
func newClient(t testing.TB) *oauth.Client {
	t.Helper()
	p := safehttp.New(safehttp.Options{Mode: safehttp.Local})
	t.Cleanup(p.Client().CloseIdleConnections)
	return &oauth.Client{HTTP: p.Client(), CheckURL: p.CheckURL}
}

// strictClient reaches what is public, and these servers alone.
func strictClient(t testing.TB, allowed ...string) *oauth.Client {
	t.Helper()
	for i := range allowed {
		allowed[i] = strings.TrimPrefix(allowed[i], "http://")
	}
	allow, err := safehttp.ParseAllow(strings.Join(allowed, ","))
	if err != nil {
		t.Fatal(err)
	}
	p := safehttp.New(safehttp.Options{Mode: safehttp.Public, Allow: allow})
	t.Cleanup(p.Client().CloseIdleConnections)
	return &oauth.Client{HTTP: p.Client(), CheckURL: p.CheckURL}
}

// trap is a server that nothing may reach.
type trap struct {
	URL  string
	hits atomic.Int32
}

func newTrap(t testing.TB) *trap {
	t.Helper()
	tr := &trap{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		tr.hits.Add(1)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"access_token":"trap","client_id":"trap","resource":"x","issuer":"x"}`))
	}))
	t.Cleanup(server.Close)
	tr.URL = server.URL
	return tr
}

// flow is one connection, step by step; a test may change things between the steps.
type flow struct {
	*oauth.Client
	t         testing.TB
	Discovery *oauth.Discovery
	Peer      oauth.Peer
	PKCE      oauth.PKCE
	State     oauth.Secret
	Scopes    []string
	Token     oauth.Token
}

func newFlow(t testing.TB) *flow {
	t.Helper()
	return &flow{Client: newClient(t), t: t, PKCE: oauth.NewPKCE(), State: oauth.NewState()}
}

func (f *flow) discover(target oauth.Target) {
	f.t.Helper()
	d, err := f.Discover(f.t.Context(), target)
	if err != nil {
		f.t.Fatalf("discover: %v\n%+v", err, d.Trace)
	}
	f.Discovery = d
	f.Peer = oauth.Peer{Server: d.Server, Resource: d.Resource}
	f.Scopes = d.Scopes(nil, "")
}

func (f *flow) register(r oauth.RegisterRequest) {
	f.t.Helper()
	r.Server, r.ClientName, r.RedirectURIs = f.Peer.Server, "Patchbay", []string{redirectURI}
	client, err := f.Register(f.t.Context(), r)
	if err != nil {
		f.t.Fatalf("register: %v", err)
	}
	f.Peer.Client = client
}

// authorize opens the authorization URL as a browser does, and returns what it brings back.
func (f *flow) authorize() url.Values {
	f.t.Helper()
	target, err := f.AuthorizationURL(oauth.AuthorizationRequest{
		Peer: f.Peer, RedirectURI: redirectURI, State: f.State, Challenge: f.PKCE.Challenge, Scopes: f.Scopes,
	})
	if err != nil {
		f.t.Fatalf("authorization URL: %v", err)
	}
	resp, err := f.HTTP.Get(target)
	if err != nil {
		f.t.Fatal(err)
	}
	_ = resp.Body.Close()
	back, err := resp.Location()
	if err != nil {
		f.t.Fatalf("%s answered %d: %v", target, resp.StatusCode, err)
	}
	return back.Query()
}

func (f *flow) exchange(q url.Values) error {
	f.t.Helper()
	code, err := oauth.ReadCallback(q, f.Peer.Server)
	if err != nil {
		return err
	}
	f.Token, err = f.Exchange(f.t.Context(), f.Peer, oauth.Grant{Code: code, RedirectURI: redirectURI, Verifier: f.PKCE.Verifier})
	return err
}

// connected is a flow that came to its end.
func connected(t testing.TB, as *oauthtest.Server) *flow {
	t.Helper()
	return connectedTo(t, as, oauthtest.ResourceBehaviour{})
}

func connectedTo(t testing.TB, as *oauthtest.Server, resource oauthtest.ResourceBehaviour) *flow {
	t.Helper()
	f := newFlow(t)
	f.discover(oauth.Target{ServerURL: as.Protect(t, resource).URL})
	f.register(oauth.RegisterRequest{})
	if err := f.exchange(f.authorize()); err != nil {
		t.Fatalf("exchange: %v", err)
	}
	return f
}

func failureOf(t testing.TB, err error) oauth.Error {
	t.Helper()
	failure, ok := errors.AsType[*oauth.Error](err)
	if !ok {
		t.Fatalf("error %v (%T) is no *oauth.Error", err, err)
	}
	for _, text := range []string{failure.Error(), failure.Detail, failure.Sentence()} {
		if strings.Contains(text, "REFLECTED") || strings.Contains(text, "<script") {
			t.Errorf("remote text in %q", text)
		}
	}
	return *failure
}

func wantKind(t testing.TB, err error, kind oauth.Kind) oauth.Error {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want %s", kind)
	}
	failure := failureOf(t, err)
	if failure.Kind != kind {
		t.Errorf("%+v, want %s", failure, kind)
	}
	return failure
}
