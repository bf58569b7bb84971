package credentials_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/fault"
	"patchbay/internal/oauth/oauthtest"
)

// An old grant without a checked token endpoint also sends a registered client to its issuer only.
func TestRefresh_RegisteredClientStaysWithIssuer(t *testing.T) {
	t.Parallel()
	var requests atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { requests.Add(1) }))
	t.Cleanup(other.Close)
	c := newEmptyConnection(t, oauthtest.Behaviour{}, func(d *connectors.Draft) { d.OAuth.TokenEndpoint = other.URL + "/token" })
	g := c.newGrant(t, nil, time.Now().Add(-time.Minute))
	g.Meta.Server.TokenEndpoint = other.URL + "/token"
	must(t, c.Door().Accounts().SaveGrant(t.Context(), g))
	_, err := c.newResolver().Headers(t.Context(), c.Tenant, c.connector, credentials.Account{})
	wantNotRenewed(t, err)
	if got := fault.As(err).Message; !strings.Contains(got, "needs its own client ID") {
		t.Errorf("message %q", got)
	}
	if n := requests.Load(); n != 0 {
		t.Errorf("the other origin got %d requests", n)
	}
}
