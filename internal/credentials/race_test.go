package credentials_test

import (
	"errors"
	"runtime"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/fault"
	"patchbay/internal/oauth/oauthtest"
	"patchbay/internal/store"
)

// heldRefresh is a refresh that waits at the authorization server.
type heldRefresh struct {
	*connection
	release func()
	result  chan error
	sent    chan string
}

// holdRefresh starts a refresh in another process. Later requests are not held.
func holdRefresh(t *testing.T, c *connection, opts ...func(*credentials.Options)) heldRefresh {
	t.Helper()
	answer := make(chan struct{})
	c.as.Set(func(b *oauthtest.Behaviour) { b.Hold = answer })
	h := heldRefresh{connection: c, release: func() { close(answer) }, result: make(chan error, 1), sent: make(chan string, 1)}
	r := c.newReplica(t, opts...)
	go func() {
		headers, err := r.Headers(t.Context(), c.Tenant, c.connector, credentials.Account{})
		if err == nil {
			h.sent <- headers[0].Value.Reveal()[len("Bearer "):]
		}
		h.result <- err
	}()
	<-c.as.Arrived(oauthtest.Refresh)
	c.as.Set(func(b *oauthtest.Behaviour) { b.Hold = nil })
	return h
}

func TestLease_TakenOverFromDeadProcess(t *testing.T) {
	t.Parallel()
	c := newConnection(t, oauthtest.Behaviour{Rotate: true}, time.Now().Add(-time.Minute))
	vault := c.St.Vault(c.Tenant)
	if _, ok, err := vault.LeaseGrant(t.Context(), c.storedGrant(t, nil), 200*time.Millisecond); !ok || err != nil {
		t.Fatal(ok, err)
	}
	c.token(t, c.newReplica(t), nil)
	if n := c.as.Count(oauthtest.Refresh); n != 1 {
		t.Errorf("%d refreshes", n)
	}
}

func TestLease_LateResponseIsNotStored(t *testing.T) {
	t.Parallel()
	c := newConnection(t, oauthtest.Behaviour{}, time.Now().Add(-time.Minute))
	h := holdRefresh(t, c, withLease(300*time.Millisecond))
	winner := c.token(t, c.newReplica(t), nil)
	if len(h.result) > 0 {
		t.Error("the first process had given up by itself")
	}
	h.release()
	must(t, <-h.result)
	if late := <-h.sent; late != winner {
		t.Error("the late one does not use what is stored")
	}
	g := c.storedGrant(t, nil)
	if g.Version != 2 || g.Tokens.AccessToken.Reveal() != winner || c.as.Count(oauthtest.Refresh) != 2 {
		t.Errorf("grant = %+v after %d refreshes", g.Credential, c.as.Count(oauthtest.Refresh))
	}
}

func TestRefresh_DeletedGrantStaysDeleted(t *testing.T) {
	t.Parallel()
	c := newConnection(t, oauthtest.Behaviour{Rotate: true}, time.Now().Add(-time.Minute))
	h := holdRefresh(t, c)
	must(t, c.Door().Connectors().DeleteCredential(t.Context(), c.connector.ID, nil, ""))
	h.release()
	wantMissing(t, <-h.result)
	if _, err := c.St.Vault(c.Tenant).Grant(t.Context(), c.connector.ID, nil); !fault.Is(err, fault.NotFound) {
		t.Errorf("it came back: %v", err)
	}
}

func TestRefresh_LateResponseKeepsNewGrant(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ disconnect, dead bool }{
		"renewed, over the old one": {},
		"renewed, after it":         {disconnect: true},
		"dead, over the old one":    {dead: true},
		"dead, after it":            {disconnect: true, dead: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newConnection(t, oauthtest.Behaviour{Rotate: true}, time.Now().Add(-time.Minute))
			h := holdRefresh(t, c)
			if tc.dead {
				c.as.EndGrants()
			}
			if tc.disconnect {
				must(t, c.Door().Connectors().DeleteCredential(t.Context(), c.connector.ID, nil, ""))
			}
			c.saveGrant(t, nil, time.Now().Add(time.Hour))
			fresh := c.storedGrant(t, nil)
			h.release()
			must(t, <-h.result)
			if used := <-h.sent; used != fresh.Tokens.AccessToken.Reveal() {
				t.Error("the waiting caller does not use the new connection")
			}
			after := c.storedGrant(t, nil)
			if after.ID != fresh.ID || after.Version != fresh.Version || after.Tokens.RefreshToken != fresh.Tokens.RefreshToken ||
				after.Status != connectors.CredentialActive {
				t.Errorf("grant = %+v", after.Credential)
			}
			if got := c.reloadConnector(t).Status; got == connectors.StatusNeedsAuth {
				t.Errorf("the connector is %s", got)
			}
		})
	}
}

func TestLease_WaiterUsesNewGrant(t *testing.T) {
	t.Parallel()
	c := newConnection(t, oauthtest.Behaviour{}, time.Now().Add(-time.Minute))
	if _, ok, err := c.St.Vault(c.Tenant).LeaseGrant(t.Context(), c.storedGrant(t, nil), time.Hour); !ok || err != nil {
		t.Fatal(ok, err)
	}
	r, before, used := c.newResolver(), c.Queries(), make(chan []credentials.Header, 1)
	go func() {
		headers, err := r.Headers(t.Context(), c.Tenant, c.connector, credentials.Account{})
		if err != nil {
			t.Error(err)
		}
		used <- headers
	}()
	for c.Queries() < before+4 { // until it retries the lease
		runtime.Gosched()
	}
	fresh := c.newGrant(t, nil, time.Now().Add(time.Hour))
	must(t, c.Door().Tx(t.Context(), func(tx *store.Tenant) error { // without a moment that has no grant
		return errors.Join(tx.Connectors().DeleteCredential(t.Context(), c.connector.ID, nil, ""), tx.Accounts().SaveGrant(t.Context(), fresh))
	}))
	if got := authorizationHeader(t, <-used, nil); got != "Bearer "+c.storedGrant(t, nil).Tokens.AccessToken.Reveal() {
		t.Error("another token than the new one")
	}
	if n := c.as.Count(oauthtest.Refresh); n != 0 {
		t.Errorf("%d refreshes", n)
	}
}

func TestFor_NeverSendsOtherAgentsAccount(t *testing.T) {
	t.Parallel()
	c := newEmptyConnection(t, oauthtest.Behaviour{}, func(d *connectors.Draft) { d.CredentialMode = connectors.CredentialPerAgent })
	ann, bob := c.Agent(t), c.Agent(t)
	r := c.newResolver()
	c.saveGrant(t, nil, time.Now().Add(time.Hour)) // from a time in shared mode
	for _, who := range []*connectors.AgentID{nil, &ann.ID, &bob.ID} {
		_, err := r.Headers(t.Context(), c.Tenant, c.connector, credentials.Account{Agent: who})
		wantMissing(t, err)
	}
	c.saveGrant(t, &ann.ID, time.Now().Add(-time.Minute))
	ofAnn := c.token(t, r, &ann.ID)
	_, err := r.Headers(t.Context(), c.Tenant, c.connector, credentials.Account{Agent: &bob.ID})
	wantMissing(t, err)
	c.saveGrant(t, &bob.ID, time.Now().Add(-time.Minute))
	if ofBob := c.token(t, r, &bob.ID); ofBob == ofAnn || c.token(t, r, &ann.ID) != ofAnn {
		t.Error("an agent sends another's token")
	}
	shared := c.connector
	shared.CredentialMode = connectors.CredentialShared
	for _, who := range []*connectors.AgentID{nil, &ann.ID} {
		headers, err := r.Headers(t.Context(), c.Tenant, shared, credentials.Account{Agent: who})
		if got := authorizationHeader(t, headers, err); got != "Bearer "+c.storedGrant(t, nil).Tokens.AccessToken.Reveal() {
			t.Error("in shared mode somebody's own account was sent")
		}
	}
}
