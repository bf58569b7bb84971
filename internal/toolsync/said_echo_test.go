package toolsync_test

import (
	"net/http"
	"strings"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/mcp/mcptest"
	"patchbay/internal/oauth/oauthtest"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

// wantNoSecret checks that a text has no part of a secret of the form sekretNNN, in any encoding.
func wantNoSecret(t testing.TB, text string) {
	t.Helper()
	joined := strings.Join(strings.Fields(text), "")
	for _, part := range []string{"ekret", "c2Vrcm", "73656b72", "73656B72", `\u0073`, "%73%65"} {
		if i := strings.Index(joined, part); i >= 0 {
			t.Errorf("a secret stands in …%s", joined[max(0, i-80):min(len(joined), i+80)])
		}
	}
}

func TestSync_NoEchoOfACredentialIsStored(t *testing.T) {
	t.Parallel()
	auths := map[string]connectors.Secret{
		"bearer": {Token: "sekret1token"}, "api_key": {Key: "sekret2key"}, "basic": {Username: "ann", Password: "sekret3password"},
	}
	for part, echo := range mcptest.Echoes() {
		t.Run(part, func(t *testing.T) {
			t.Parallel()
			b := newBundle(t)
			up := newUpstream(t, mcptest.Script{On: map[string]mcptest.Handler{"initialize": echo}})
			for kind, entered := range auths {
				c := b.addConnector(t, up.URL, func(d *connectors.Draft) { d.Auth.Type, d.RetryAttempts = connectors.AuthType(kind), 0 })
				sealed, err := entered.Encode()
				must(t, err)
				must(t, b.Door().Connectors().SetCredential(t.Context(), store.NewCredential{ConnectorID: c.ID, Type: c.Auth.Type, Origin: connectors.Origin(c.URL), Secret: sealed}))
				_, err = b.run(t, c)
				f := fault.As(err)
				run := b.lastRun(t, c)
				wantNoSecret(t, f.Error()+f.Message+run.ErrorMessage)
				if f.Kind != fault.Upstream || run.Upstream == nil || run.Upstream.Said != f.Remote.Said {
					t.Fatalf("%+v, %+v", f, run.Upstream)
				}
				wantNoSecret(t, f.Remote.Said)
				hasWords := part != "path" && part != "host" && part != "version"
				if hasWords && !strings.Contains(f.Remote.Said, "[redacted]") {
					t.Errorf("%s: nothing was repeated: %q", kind, f.Remote.Said)
				}
			}
		})
	}
}

func TestProgram_NoEchoOfItsEnvironmentIsStored(t *testing.T) {
	t.Parallel()
	args := []string{"-c", "cat >&2 <<'EOT'\nno database: " + mcptest.EncodeAll("sekret4variable") + "EOT\nexit 3"}
	b, _ := withPrograms(t, args)
	c := b.Connector(t, shell, func(d *connectors.Draft) { d.Command.Args = args })
	must(t, b.Door().Connectors().SetEnvironment(t.Context(), c, connectors.Environment{"GREETING": secret.Text("sekret4variable")}))
	_, err := b.run(t, c)
	run := b.lastRun(t, c)
	if run.Upstream == nil || !strings.HasPrefix(run.Upstream.Said, "no database: [redacted]") {
		t.Fatalf("%v, %+v", err, run.Upstream)
	}
	wantNoSecret(t, run.Upstream.Said+fault.As(err).Message)
}

func TestSync_QuotesTheChallengeOfARefusal(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	up := newUpstream(t, mcptest.Script{On: map[string]mcptest.Handler{"initialize": func(w http.ResponseWriter, r *http.Request, _ mcptest.Call) {
		w.Header().Set("WWW-Authenticate", `Bearer error="invalid_token", error_description="`+r.Header.Get("Authorization")+` ended"`)
		w.WriteHeader(http.StatusUnauthorized)
	}}})
	c := b.addConnector(t, up.URL, bearer)
	b.storeToken(t, c, nil, "sekret-token")
	_, err := b.run(t, c)
	f := wantFault(t, err, fault.Upstream, "unauthorized")
	if f.Remote.Said != "invalid_token\nBearer [redacted] ended" {
		t.Errorf("%q", f.Remote.Said)
	}
}

// Without a credential the server's own words say what is missing.
func TestSync_MissingAccountQuotesTheServer(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	up := newUpstream(t, mcptest.Script{On: map[string]mcptest.Handler{"initialize": mcptest.Status(http.StatusUnauthorized, "ask the desk for access")}})
	c := b.addConnector(t, up.URL, bearer)
	_, err := b.run(t, c)
	if run := b.lastRun(t, c); run.Upstream == nil || run.Upstream.Said != "ask the desk for access" || run.Upstream.Status != http.StatusUnauthorized {
		t.Errorf("%v, %+v", err, run.Upstream)
	}
}

func TestSync_EndedAccountQuotesTheAuthorizationServer(t *testing.T) {
	t.Parallel()
	g := newOAuthServer(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{})
	g.storeGrant(t, nil)
	g.as.ExpireAccess()
	g.as.Set(func(b *oauthtest.Behaviour) { b.Token = oauthtest.DeadEcho })
	for range 2 { // the second run requests no token
		_, err := g.run(t, g.connector)
		g.wantNeedsAuth(t, err, `Reconnect the account for "`)
		run := g.lastRun(t, g.connector)
		if run.Upstream == nil || run.Upstream.Status != http.StatusBadRequest || !strings.Contains(run.Upstream.Said, "consent was withdrawn") {
			t.Fatalf("%+v", run.Upstream)
		}
		for _, issued := range g.as.Issued() {
			if strings.Contains(run.Upstream.Said, issued) {
				t.Errorf("%s is shown: %s", issued, run.Upstream.Said)
			}
		}
	}
	if u := g.credential(t).Upstream; u == nil || !strings.Contains(u.Said, "consent was withdrawn") {
		t.Errorf("%+v", u)
	}
}
