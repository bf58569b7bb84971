package connect_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/oauth"
	"patchbay/internal/oauth/oauthtest"
	"patchbay/internal/store"
)

// endpoint is a revocation endpoint that reports the tokens it receives.
type endpoint struct {
	*httptest.Server
	asked chan string
}

// newEndpoint serves until the test ends. A hanging one answers no request before its client gives up.
func newEndpoint(t *testing.T, hangs bool) endpoint {
	t.Helper()
	e := endpoint{asked: make(chan string, 100)}
	e.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		e.asked <- r.FormValue("token")
		if hangs {
			<-r.Context().Done()
		}
	}))
	t.Cleanup(e.Close)
	return e
}

// pending queues the revocation of a grant that an issuer gave, at an endpoint.
func (b *bundle) pending(t *testing.T, tenant connectors.TenantID, e endpoint, issuer string) {
	t.Helper()
	door, c := b.St.Tenant(tenant), b.ConnectorIn(t, tenant, oauth2)
	must(t, door.Accounts().SaveGrant(t.Context(), store.NewGrant{
		ConnectorID: c.ID, Origin: connectors.Origin(c.URL),
		GrantTokens: store.GrantTokens{
			AccessToken: "access", RefreshToken: "refresh",
			Meta: store.GrantMeta{Server: oauth.Metadata{Issuer: issuer, RevocationEndpoint: e.URL}, ClientID: "client"},
		},
	}))
	must(t, door.Connectors().Delete(t.Context(), c.ID))
}

func TestRevokeDeleted_HangingIssuerDelaysNoOtherTenant(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{})
	stuck, other := newEndpoint(t, true), newEndpoint(t, false)
	for _, issuer := range []string{"https://a.example", "https://a.example", "https://b.example", "https://c.example"} {
		b.pending(t, b.Tenant, stuck, issuer)
	}
	b.pending(t, b.Other, other, "https://a.example")
	b.AsOwner(t, "update account_revocations set due_at = now() - case when tenant_id = '"+b.Tenant.String()+"' then interval '1 hour' else interval '0' end")
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := b.broker.RevokeDeleted(ctx, time.Minute)
		ended <- err
	}()
	defer func() { <-ended }()
	defer stop()
	select {
	case <-other.asked:
	case <-time.After(time.Minute):
		t.Fatal("the other tenant's grant was not revoked")
	}
	if n := len(stuck.asked); n > 2 {
		t.Errorf("%d tries of the tenant whose issuer hangs came first", n)
	}
}
