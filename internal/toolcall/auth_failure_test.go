package toolcall_test

import (
	"context"
	"net/http"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/oauth/oauthtest"
	"patchbay/internal/secret"
	"patchbay/internal/toolcall"
)

// newMachineConnector is a connector with client credentials and their authorization server.
func (b *bench) newMachineConnector(t testing.TB) (connectors.Connector, *oauthtest.Server, *oauthtest.Resource) {
	t.Helper()
	authServer := oauthtest.Start(t, oauthtest.Behaviour{})
	resource := authServer.Protect(t, oauthtest.ResourceBehaviour{Next: b.remote})
	c := b.connector(t, b.remote, func(d *connectors.Draft) { d.URL, d.Auth.Type = resource.URL, connectors.AuthClientCredentials })
	authServer.AddClient("machine", "its secret", nil)
	b.saveCredential(t, c, nil, connectors.Secret{ClientID: "machine", ClientSecret: secret.Text("its secret")})
	return c, authServer, resource
}

func TestToken_RefreshedAfter401AndCallMadeOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c, authServer, _ := b.newMachineConnector(t)
	a := b.newTrustedAgent(t, c)
	_, err := b.call(t, a, c, "")
	must(t, err)
	authServer.ExpireAccess()
	_, err = b.call(t, a, c, "")
	must(t, err)
	b.remote.wantCalls(t, 2)
}

func TestToken_RefusedTwiceNeedsAuthorization(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c, authServer, resource := b.newMachineConnector(t)
	a := b.newTrustedAgent(t, c)
	_, err := b.call(t, a, c, "")
	must(t, err)
	before := authServer.Count(oauthtest.ClientCredentials)
	resource.Set(func(r *oauthtest.ResourceBehaviour) { r.RefuseAll = true })
	for range 3 {
		_, err = b.call(t, a, c, "")
		wantRefused(t, err, toolcall.CodeNeedsAuthorization)
	}
	if n := authServer.Count(oauthtest.ClientCredentials) - before; n != 1 {
		t.Errorf("%d tokens were asked for", n)
	}
}

func TestToken_RefusedStaticSecretIsExplained(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.connector(t, b.remote, perAgent)
	a := b.newTrustedAgent(t, c)
	b.saveCredential(t, c, &a.ID, connectors.Secret{Token: "x"})
	b.remote.set(func(w http.ResponseWriter, _ *http.Request, m message) bool {
		if m.Method == "tools/call" {
			w.WriteHeader(http.StatusUnauthorized)
		}
		return m.Method == "tools/call"
	})
	_, err := b.call(t, a, c, "")
	wantRefused(t, err, toolcall.CodeNeedsAuthorization)
	b.remote.wantCalls(t, 1)
}

func TestToken_MachineGetsMissingScopes(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c, _, resource := b.newMachineConnector(t)
	a := b.newTrustedAgent(t, c)
	resource.Set(func(r *oauthtest.ResourceBehaviour) { r.StepUp = map[string]string{"tools/call": "write"} })
	_, err := b.call(t, a, c, "")
	must(t, err)
	b.remote.wantCalls(t, 1)
}

func TestToken_MissingScopesAreNotThoseOfAnotherAccount(t *testing.T) {
	t.Parallel()
	var o toolcall.Options
	b := newBench(t, func(of *toolcall.Options) { o = *of })
	c, authServer, _ := b.newMachineConnector(t)
	authServer.AddClient("other machine", "its secret", nil)
	a := b.newTrustedAgent(t, c)
	b.remote.set(func(w http.ResponseWriter, _ *http.Request, m message) bool {
		if n, _ := b.remote.requestCounts(); m.Method != "tools/call" || n > 1 {
			return false
		}
		must(t, b.Door().Connectors().DeleteCredential(t.Context(), c.ID, nil, ""))
		b.saveCredential(t, c, nil, connectors.Secret{ClientID: "other machine", ClientSecret: secret.Text("its secret")})
		w.Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope", scope="write"`)
		w.WriteHeader(http.StatusForbidden)
		return true
	})
	unwatched := toolcall.New(o) // no notice ends its session before the answer
	t.Cleanup(func() { unwatched.Stop(context.WithoutCancel(t.Context())) })
	_, err := unwatched.Call(t.Context(), b.order(t, b.process, a, c, "search", ""))
	wantRefused(t, err, toolcall.CodeUnavailable)
	b.remote.wantCalls(t, 1)
}
