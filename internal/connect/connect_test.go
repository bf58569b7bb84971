package connect_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
	"patchbay/internal/oauth/oauthtest"
)

func TestAnAccountIsConnectedAndItsToolsAreQueued(t *testing.T) {
	t.Parallel()
	b := newBundle(t, oauthtest.Behaviour{}, oauthtest.ResourceBehaviour{Scope: "read"})
	c := b.protected(t)
	done := b.connect(t, c, nil)

	g := b.grant(t, c, nil)
	if _, ok := b.as.Accepts(g.Tokens.AccessToken.Reveal()); !ok || g.Status != connectors.CredentialActive || g.Origin != connectors.Origin(c.URL) {
		t.Errorf("grant = %+v", g.Credential)
	}
	if diff := cmp.Diff([]string{"read"}, g.Scopes); diff != "" || !g.Tokens.Meta.Refreshable {
		t.Error(diff, g.Tokens.Meta)
	}
	if done.Run == nil || done.ReturnTo != "/connectors/"+c.Slug || done.Tenant != b.Tenant || done.Connector.ID != c.ID || done.ByLink || done.Again != nil {
		t.Fatalf("finished = %+v", done)
	}
	run, err := b.Door().SyncRun(t.Context(), *done.Run)
	if err != nil || run.State != connectors.SyncQueued || run.Trigger != connectors.TriggerOAuth {
		t.Errorf("run = %+v, %v", run, err)
	}
	if got := b.now(t, c).AuthBehaviour; got != connectors.AuthAll {
		t.Errorf("auth behaviour %s", got)
	}
}
