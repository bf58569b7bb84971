package connect_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connect"
	"patchbay/internal/connectors"
	"patchbay/internal/oauth"
	"patchbay/internal/oauth/oauthtest"
	"patchbay/internal/store"
)

func TestFinish_ConnectsAndQueuesSync(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{IDToken: oauthtest.Document{"email": "ann@example.com"}}, oauthtest.ResourceBehaviour{Scope: "read"})
	c := b.protected(t)
	done := b.connect(t, c, nil)

	g := b.grant(t, c, nil)
	if _, ok := b.as.Accepts(g.Tokens.AccessToken.Reveal()); !ok || g.Status != connectors.CredentialActive || g.Origin != connectors.Origin(c.URL) {
		t.Errorf("grant = %+v", g.Credential)
	}
	if diff := cmp.Diff([]string{"read"}, g.Scopes); diff != "" || g.Account != "ann@example.com" || g.ExpiresAt == nil {
		t.Errorf("grant = %+v", g.Credential)
	}
	meta := g.Tokens.Meta
	if !meta.Refreshable || meta.Source != oauth.SourceDynamic || meta.Resource != c.URL || meta.Server.Issuer != b.as.Issuer || meta.RedirectURI != baseURL+"/oauth/callback" {
		t.Errorf("meta = %+v", meta)
	}
	if done.Run == nil || done.ReturnTo != "/connectors/"+c.Slug || done.Tenant != b.Tenant || done.Connector.ID != c.ID || done.ByLink || done.Restarted != nil {
		t.Fatalf("finished = %+v", done)
	}
	run, err := b.Door().Syncs().Get(t.Context(), *done.Run)
	if err != nil || run.State != connectors.SyncQueued || run.Trigger != connectors.TriggerOAuth {
		t.Errorf("run = %+v, %v", run, err)
	}
	if got := b.now(t, c).AuthBehaviour; got != connectors.AuthAll {
		t.Errorf("auth behaviour %s", got)
	}
	actor, detail := b.event(t, "credential.connect")
	want := map[string]any{"connector_id": c.ID.String(), "issuer": b.as.Issuer, "scopes": []any{"read"}}
	if diff := cmp.Diff(want, detail); diff != "" || actor != "person "+b.admin.Name {
		t.Errorf("event by %s\n%s", actor, diff)
	}
}

func TestFinish_DefaultsOfTokenResponse(t *testing.T) {
	t.Parallel()
	terse := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"access_token":"bare"}`))
	}))
	t.Cleanup(terse.Close)
	b := newBundle(t, oauthtest.Behaviour{Edit: func(d oauthtest.Document) { d["token_endpoint"] = terse.URL }}, oauthtest.ResourceBehaviour{Scope: "read"})
	c := b.protected(t)
	b.connect(t, c, nil)
	g := b.grant(t, c, nil)
	if diff := cmp.Diff([]string{"read"}, g.Scopes); diff != "" || g.Tokens.Meta.Refreshable || !g.Tokens.Meta.ExpiryAssumed || g.Account != "" {
		t.Errorf("grant = %+v, %+v\n%s", g.Credential, g.Tokens.Meta, diff)
	}
}

func TestEachAgentConnectsItsOwnAccount(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{})
	c, ann, bob := b.protected(t, perAgent), b.Agent(t), b.Agent(t)
	done := b.connect(t, c, agentRef(ann))
	if done.Agent == nil || done.Agent.ID != ann.ID {
		t.Errorf("finished for %+v", done.Agent)
	}
	run, err := b.Door().Syncs().Get(t.Context(), *done.Run)
	if err != nil || run.AgentID == nil || *run.AgentID != ann.ID {
		t.Errorf("run = %+v, %v: not with the agent's credential", run, err)
	}
	b.connect(t, c, agentRef(bob))
	if a, b := b.grant(t, c, &ann.ID), b.grant(t, c, &bob.ID); a.Tokens.AccessToken == b.Tokens.AccessToken {
		t.Error("two agents have one token")
	}
	if _, detail := b.event(t, "credential.connect"); detail["agent"] != bob.Slug || detail["agent_id"] != bob.ID.String() {
		t.Errorf("event = %v", detail)
	}
	if n := b.as.Count(oauthtest.Register); n != 1 {
		t.Errorf("registered %d times", n)
	}
}

func TestFinish_QueuesSyncWhenToolsAreMissing(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{})
	failed := func(code string) func(*testing.T, connectors.Connector) {
		return func(t *testing.T, c connectors.Connector) {
			b.Synced(t, c.ID, "search")
			_, err := b.Door().Syncs().Fail(t.Context(), b.Run(t, c.ID).ID, connectors.SyncError{Code: code, Message: "No.", At: time.Now()}, store.ServerObservation{})
			must(t, err)
		}
	}
	for name, tc := range map[string]struct {
		before func(*testing.T, connectors.Connector)
		queued bool
	}{
		"never synced":       {func(*testing.T, connectors.Connector) {}, true},
		"known tools":        {func(t *testing.T, c connectors.Connector) { b.Synced(t, c.ID, "search") }, false},
		"refused credential": {failed("unauthorized"), true},
		"no credential":      {failed("credential_required"), true},
		"another reason":     {failed("timeout"), false},
		"disabled": {func(t *testing.T, c connectors.Connector) {
			b.change(t, c, func(d *connectors.Draft) { d.Enabled = false })
		}, false},
		"another one running": {func(t *testing.T, c connectors.Connector) { b.Run(t, c.ID) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			c := b.protected(t)
			tc.before(t, c)
			done := b.connect(t, c, nil)
			if got := done.Run != nil; got != tc.queued {
				t.Errorf("queued: %v", got)
			}
			b.grant(t, c, nil)
		})
	}
}

func TestAnotherReplicaTakesTheCallback(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{})
	c := b.protected(t)
	back := b.agree(t, b.start(t, c, nil))
	done, err := b.replica(t).Finish(t.Context(), back, b.browser())
	if err != nil || done.Connector.ID != c.ID || done.Run == nil {
		t.Fatalf("finished = %+v, %v", done, err)
	}
	b.grant(t, c, nil)
}

func TestANewConnectionReplacesTheOldGrant(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{})
	c := b.protected(t)
	b.connect(t, c, nil)
	first := b.grant(t, c, nil)
	_, err := b.St.Vault(b.Tenant).RefuseGrant(t.Context(), first.ID, first.Version, first.Tokens.Meta, "It ended.", nil)
	must(t, err)
	b.connect(t, c, nil)
	second := b.grant(t, c, nil)
	if second.Status != connectors.CredentialActive || second.Error != "" || second.Tokens.AccessToken == first.Tokens.AccessToken {
		t.Errorf("grant = %+v", second.Credential)
	}
}

// The browser may be gone before the answer: what the code gave is kept all the same.
func TestABrowserThatLeavesLosesNothing(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	b := newBundle(t, oauthtest.Behaviour{Hold: hold}, oauthtest.ResourceBehaviour{})
	c := b.protected(t)
	back := b.agree(t, b.start(t, c, nil))
	ctx, leave := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := b.broker.Finish(ctx, back, b.browser())
		ended <- err
	}()
	<-b.as.Arrived(oauthtest.Exchange)
	leave()
	close(hold)
	if err := <-ended; err != nil {
		t.Errorf("finish: %v", err)
	}
	b.grant(t, c, nil)
}

func TestOurDocumentSaysWhoWeAre(t *testing.T) {
	t.Parallel()
	d := connect.New(connect.Options{BaseURL: baseURL}).Document()
	if d.ClientID != baseURL+"/oauth/client-metadata.json" || d.ClientURI != baseURL || d.ClientName != "Patchbay" {
		t.Errorf("document = %+v", d)
	}
	if diff := cmp.Diff([]string{baseURL + "/oauth/callback"}, d.RedirectURIs); diff != "" {
		t.Error(diff)
	}
	const elsewhere = "https://id.example/patchbay.json"
	if d = connect.New(connect.Options{BaseURL: baseURL, CIMDURL: elsewhere}).Document(); d.ClientID != elsewhere {
		t.Errorf("client id %s", d.ClientID)
	}
}
