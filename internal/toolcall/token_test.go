package toolcall_test

import (
	"net/http"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/oauth/oauthtest"
	"patchbay/internal/secret"
	"patchbay/internal/toolcall"
)

// machine is a connector whose tokens an authorization server gives, in front of the server.
func (b *bench) machine(t testing.TB) (connectors.Connector, *oauthtest.Server, *oauthtest.Resource) {
	t.Helper()
	as := oauthtest.Start(t, oauthtest.Behaviour{})
	resource := as.Protect(t, oauthtest.ResourceBehaviour{Next: b.remote})
	c := b.connector(t, b.remote, func(d *connectors.Draft) { d.URL, d.Auth.Type = resource.URL, connectors.AuthClientCredentials })
	as.AddClient("machine", "its secret", nil)
	b.keep(t, c, nil, connectors.Secret{ClientID: "machine", ClientSecret: secret.Text("its secret")})
	return c, as, resource
}

func TestATokenThatTheServerRefusesIsRenewedAndTheCallIsMadeOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c, as, _ := b.machine(t)
	a := b.trusted(t, c)
	_, err := b.call(t, a, c, "")
	must(t, err)
	as.ExpireAccess()
	_, err = b.call(t, a, c, "")
	must(t, err)
	b.remote.wantCalls(t, 2)
}

func TestATokenThatIsRefusedForGoodIsDeadUntilAPersonMendsIt(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c, as, resource := b.machine(t)
	a := b.trusted(t, c)
	_, err := b.call(t, a, c, "")
	must(t, err)
	before := as.Count(oauthtest.ClientCredentials)
	resource.Set(func(r *oauthtest.ResourceBehaviour) { r.RefuseAll = true })
	for range 3 {
		_, err = b.call(t, a, c, "")
		wantRefused(t, err, toolcall.CodeNeedsAuthorization)
	}
	if n := as.Count(oauthtest.ClientCredentials) - before; n != 1 {
		t.Errorf("%d tokens were asked for", n)
	}
}

func TestAStaticSecretThatIsRefusedSaysSo(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.connector(t, b.remote, perAgent)
	a := b.trusted(t, c)
	b.keep(t, c, &a.ID, connectors.Secret{Token: "x"})
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

func TestAMachineGetsTheScopesThatAToolWants(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c, _, resource := b.machine(t)
	a := b.trusted(t, c)
	resource.Set(func(r *oauthtest.ResourceBehaviour) { r.StepUp = map[string]string{"tools/call": "write"} })
	_, err := b.call(t, a, c, "")
	must(t, err)
	b.remote.wantCalls(t, 1)
}
