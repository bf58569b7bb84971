package toolsync_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/fault"
	"patchbay/internal/mcp/mcptest"
	"patchbay/internal/oauth/oauthtest"
	"patchbay/internal/secret"
)

// echoHeaders fails with the request's credential and the other texts, each in several encodings.
func echoHeaders(others ...string) mcptest.Handler {
	return func(w http.ResponseWriter, r *http.Request, _ mcptest.Call) {
		w.WriteHeader(http.StatusTeapot)
		for _, text := range append([]string{r.Header.Get("Authorization")}, others...) {
			fmt.Fprintf(w, "%s\n%q\n%x\n%s\n%s\n%s\n%s\n\n", text, text, text, url.QueryEscape(text), base64.StdEncoding.EncodeToString([]byte(text)),
				base64.RawURLEncoding.EncodeToString([]byte("x:"+text)), text[:len(text)/2]+"\n"+text[len(text)/2:])
		}
	}
}

func TestSync_SaidHasNoCredential(t *testing.T) {
	t.Parallel()
	const token, client = "sekret/token+1", "sekret client 2"
	b := newBundle(t)
	up := newUpstream(t, mcptest.Script{On: map[string]mcptest.Handler{"initialize": echoHeaders(client, "sekret-header-3")}})
	c := b.addConnector(t, up.URL, perAgent, func(d *connectors.Draft) { d.Headers = map[string]string{"X-Api-Key": "sekret-header-3"} })
	agent, other := b.Agent(t), b.Agent(t)
	b.storeToken(t, c, &agent.ID, token)
	b.storeToken(t, c, &other.ID, client)

	_, err := b.runAs(t, c, &agent)

	f := wantFault(t, err, fault.Upstream, "http_status")
	run := b.lastRun(t, c)
	if run.Upstream == nil || run.Upstream.Status != http.StatusTeapot || run.Upstream.Said != f.Remote.Said || !strings.HasPrefix(f.Remote.Said, "Bearer [redacted]") {
		t.Fatalf("%+v, %+v", run.Upstream, f.Remote)
	}
	rest := strings.NewReplacer("[redacted]", "", "Bearer", "", "Bearer+", "", `"`, "", "+", "", "\n", "", " ", "").Replace(run.Upstream.Said)
	if strings.Contains(rest, "ekret") || strings.Contains(rest, "c2Vr") || len(rest) > 60 {
		t.Errorf("more is shown: %q of %q", rest, run.Upstream.Said)
	}
}

func TestSync_QuotesTheAuthorizationServer(t *testing.T) {
	t.Parallel()
	for name, machine := range map[string]bool{"refresh": false, "client credentials": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var drafts []func(*connectors.Draft)
			if machine {
				drafts = append(drafts, machineDraft, func(d *connectors.Draft) { d.OAuth.ClientID = "client" })
			}
			g := newOAuthServer(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{}, drafts...)
			if machine {
				g.storeSecret(t, connectors.Secret{ClientSecret: "s3cret"})
			} else {
				g.storeGrant(t, nil)
				g.as.ExpireAccess()
			}
			g.as.Set(func(b *oauthtest.Behaviour) { b.Token = oauthtest.Echo })

			_, err := g.run(t, g.connector)

			f := wantFault(t, err, fault.Unavailable, credentials.CodeNotRenewed)
			run := g.lastRun(t, g.connector)
			if f.Remote == nil || run.Upstream == nil || run.Upstream.Said != f.Remote.Said || run.Upstream.Status != http.StatusServiceUnavailable ||
				!strings.Contains(f.Remote.Said, "token store is full") || !strings.Contains(f.Remote.Said, "[redacted]") {
				t.Fatalf("%+v, %+v", f.Remote, run.Upstream)
			}
			for _, sent := range g.as.Requests(oauthtest.Refresh, oauthtest.ClientCredentials) {
				for _, field := range []string{"refresh_token", "client_secret", "code"} {
					if value := sent.Form.Get(field); value != "" && strings.Contains(f.Remote.Said, value) {
						t.Errorf("%s is shown: %s", field, f.Remote.Said)
					}
				}
			}
			if strings.Contains(f.Remote.Said+f.Message, "s3cret") {
				t.Errorf("the client secret is shown: %s", f.Remote.Said)
			}
		})
	}
}

func TestScheduledSync_StoresWhatTheServerSaid(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	up := newUpstream(t, mcptest.Script{Tools: mcptest.Tools(1), On: map[string]mcptest.Handler{
		"tools/list": mcptest.Answer("text/event-stream", func(c mcptest.Call) string { return mcptest.Event(mcptest.Failure(c, -32603, "db down")) }),
	}})
	c := b.addConnector(t, up.URL)
	b.syncDue(t)
	run := b.lastRun(t, c)
	if run.Upstream == nil || run.Upstream.Said != "db down" || run.Upstream.Status != http.StatusOK || run.Trigger != connectors.TriggerSchedule {
		t.Errorf("%+v, %+v", run, run.Upstream)
	}
}

func TestProbe_SaidHasNoEnteredSecret(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	up := newUpstream(t, mcptest.Script{On: map[string]mcptest.Handler{"initialize": echoHeaders()}})
	rep, err := b.sync.Probe(t.Context(), b.Tenant, nil, draftTo(up.URL, bearer), connectors.Secret{Token: "sekret-entered"})
	if err != nil || rep.Error == nil || !strings.Contains(rep.Error.Remote.Said, "[redacted]") || strings.Contains(rep.Error.Remote.Said, "ekret") {
		t.Errorf("%+v, %v", rep.Error, err)
	}
}

func TestProgram_ExitIsQuoted(t *testing.T) {
	t.Parallel()
	args := []string{"-c", `echo "no database at $GREETING" >&2; exit 3`}
	b, log := withPrograms(t, args)
	c := b.Connector(t, shell, func(d *connectors.Draft) { d.Command.Args = args })
	if err := b.Door().Connectors().SetEnvironment(t.Context(), c, connectors.Environment{"GREETING": secret.Text("sekret-db")}); err != nil {
		t.Fatal(err)
	}
	_, err := b.run(t, c)
	f := wantFault(t, err, fault.Upstream, "protocol")
	run := b.lastRun(t, c)
	if run.Upstream == nil || run.Upstream.ExitStatus == nil || *run.Upstream.ExitStatus != 3 || run.Upstream.Said != "no database at [redacted]" || f.Remote.Said != run.Upstream.Said {
		t.Errorf("%+v, %+v", run.Upstream, f.Remote)
	}
	if strings.Contains(log.String(), "sekret") {
		t.Error("the log has the environment")
	}
}
