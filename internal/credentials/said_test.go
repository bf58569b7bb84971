package credentials_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/fault"
	"patchbay/internal/mcp"
	"patchbay/internal/oauth/oauthtest"
	"patchbay/internal/store"
)

// listed is the only credential of the list, without its secret.
func (c *connection) listed(t testing.TB) connectors.Credential {
	t.Helper()
	list, err := c.Door().Connectors().Credentials(t.Context(), c.connector.ID, store.Page{})
	must(t, err)
	return list.Items[0]
}

func (c *connection) notices(t testing.TB) []connectors.Notice {
	t.Helper()
	list, err := c.Door().People().Notices(t.Context(), nil, store.Page{})
	must(t, err)
	return list.Items
}

// wantSaid checks what a server said, and that it has no token of the authorization server and no client secret.
func (c *connection) wantSaid(t testing.TB, u *connectors.Upstream, status int, says string) {
	t.Helper()
	if u == nil || u.Status != status || !strings.Contains(u.Said, says) || !strings.Contains(u.Said, "[redacted]") {
		t.Fatalf("%+v", u)
	}
	for _, secret := range append(c.as.Issued(), "by hand", "s&cret", "s%26cret") {
		if strings.Contains(u.Said, secret) {
			t.Errorf("%s is shown: %s", secret, u.Said)
		}
	}
}

func TestRefresh_EndOfAGrantKeepsTheServersWords(t *testing.T) {
	t.Parallel()
	for name, client := range map[string]string{"registered client": "", "own client": "by-hand"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newEmptyConnection(t, oauthtest.Behaviour{}, func(d *connectors.Draft) { d.OAuth.ClientID = client })
			c.saveGrant(t, nil, time.Now().Add(-time.Minute))
			c.as.Set(func(b *oauthtest.Behaviour) { b.Token = oauthtest.DeadEcho })
			var log bytes.Buffer
			r := c.newReplica(t, func(o *credentials.Options) { o.Log = slog.New(slog.NewJSONHandler(&log, nil)) })
			for range 2 { // the second sends nothing
				_, err := r.Headers(t.Context(), c.Tenant, c.connector, credentials.Account{})
				wantMissing(t, err)
				f := fault.As(err)
				c.wantSaid(t, connectors.UpstreamOf(f.Remote), http.StatusBadRequest, "consent was withdrawn")
				if strings.Contains(f.Error(), "withdrawn") {
					t.Errorf("the log has it: %v", f)
				}
			}
			c.wantSaid(t, c.listed(t).Upstream, http.StatusBadRequest, "consent was withdrawn")
			told := c.notices(t)
			if len(told) != 1 || told[0].Kind != connectors.NoticeNeedsAuth || strings.Contains(told[0].Body, "withdrawn") {
				t.Fatalf("%+v", told)
			}
			c.wantSaid(t, told[0].Upstream, http.StatusBadRequest, "consent was withdrawn")
			if strings.Contains(log.String(), "withdrawn") || !strings.Contains(log.String(), "not refreshed") {
				t.Errorf("the log: %s", log.String())
			}

			c.as.Set(func(b *oauthtest.Behaviour) { b.Token = oauthtest.NoTrouble })
			c.saveGrant(t, nil, time.Now().Add(time.Hour))
			if now := c.listed(t); now.Upstream != nil || now.Error != "" {
				t.Errorf("connected again: %+v", now)
			}
		})
	}
}

func TestRefresh_DelayKeepsTheServersWords(t *testing.T) {
	t.Parallel()
	c := newConnection(t, oauthtest.Behaviour{}, time.Now().Add(-time.Minute))
	c.as.Set(func(b *oauthtest.Behaviour) { b.Token = oauthtest.Echo })
	r := c.newReplica(t)
	for range 2 { // the second sends nothing
		_, err := r.Headers(t.Context(), c.Tenant, c.connector, credentials.Account{})
		wantNotRenewed(t, err)
		c.wantSaid(t, connectors.UpstreamOf(fault.As(err).Remote), http.StatusServiceUnavailable, "token store is full")
	}
	c.wantSaid(t, c.listed(t).Upstream, http.StatusServiceUnavailable, "token store is full")
	c.skipRetryDelay(t)
	c.as.Set(func(b *oauthtest.Behaviour) { b.Token = oauthtest.NoTrouble })
	c.token(t, r, nil)
	if now := c.listed(t); now.Upstream != nil || now.Status != connectors.CredentialActive {
		t.Errorf("renewed: %+v", now)
	}
}

func TestMarkRefused_KeepsTheServersWords(t *testing.T) {
	t.Parallel()
	c := newConnection(t, oauthtest.Behaviour{}, time.Now().Add(time.Hour))
	r := c.newResolver()
	u, err := r.Resolve(t.Context(), c.Tenant, c.connector, credentials.Account{})
	must(t, err)
	refusal := &mcp.Error{HTTPStatus: http.StatusUnauthorized, RPC: &mcp.RPCError{Message: "revoked: " + c.token(t, r, nil)}}
	must(t, r.MarkRefused(t.Context(), c.Tenant, u, "It is refused. Connect again.", refusal))
	c.wantSaid(t, c.listed(t).Upstream, http.StatusUnauthorized, "revoked: [redacted]")
}
