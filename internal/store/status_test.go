package store_test

import (
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

// TestStatus_FollowsCredentialsWithoutASync compares every place that has a connector's status, before and after its
// credential is deleted.
func TestStatus_FollowsCredentialsWithoutASync(t *testing.T) {
	t.Parallel()
	for _, kind := range []connectors.AuthType{connectors.AuthBearer, connectors.AuthAPIKey, connectors.AuthBasic, connectors.AuthOAuth2} {
		for _, mode := range []connectors.CredentialMode{connectors.CredentialShared, connectors.CredentialPerAgent} {
			t.Run(string(kind)+" "+string(mode), func(t *testing.T) {
				t.Parallel()
				w := fixture.New(t)
				c := w.Connector(t, func(d *connectors.Draft) { d.Auth.Type, d.CredentialMode = kind, mode })
				var agent *connectors.AgentID
				if mode == connectors.CredentialPerAgent {
					agent = new(w.Agent(t).ID)
				}
				w.Synced(t, c.ID, "search")
				saveCredential(t, w, c, agent)
				wantStatus(t, w, c, connectors.StatusOK)
				if err := w.Door().Connectors().DeleteCredential(t.Context(), c.ID, agent, ""); err != nil {
					t.Fatal(err)
				}
				wantStatus(t, w, c, connectors.StatusNeedsAuth)
				saveCredential(t, w, c, agent)
				wantStatus(t, w, c, connectors.StatusOK)
				w.AsSystem(t, `update credentials set status = 'revoked' where connector_id = $1`, []any{c.ID})
				wantStatus(t, w, c, connectors.StatusNeedsAuth)
				w.AsSystem(t, `update connectors set enabled = false where id = $1`, []any{c.ID})
				wantStatus(t, w, c, connectors.StatusDisabled)
			})
		}
	}
}

func TestStatus_OfSyncsWithoutPersonsCredential(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	for kind, want := range map[connectors.AuthType]connectors.ConnectorStatus{
		connectors.AuthNone: connectors.StatusOK, connectors.AuthClientCredentials: connectors.StatusOK, connectors.AuthPrivateKeyJWT: connectors.StatusOK,
		connectors.AuthBearer: connectors.StatusNeedsAuth,
	} {
		c := w.Connector(t, func(d *connectors.Draft) { d.Auth.Type, d.OAuth.ClientID = kind, "client" })
		if now := reload(t, w, c); now.Status != connectors.StatusNeverSynced {
			t.Errorf("new %s: %s", kind, now.Status)
		}
		w.Synced(t, c.ID, "search")
		if now := reload(t, w, c); now.Status != want {
			t.Errorf("%s: %s, want %s", kind, now.Status, want)
		}
		run := w.Run(t, c.ID)
		if _, err := w.Door().Syncs().Fail(t.Context(), run.ID, connectors.SyncError{Code: "timeout", Message: "It was silent."}, store.ServerObservation{}); err != nil {
			t.Fatal(err)
		}
		if want == connectors.StatusOK {
			want = connectors.StatusError
		}
		if now := reload(t, w, c); now.Status != want {
			t.Errorf("failing %s: %s, want %s", kind, now.Status, want)
		}
	}
	for _, one := range needs(t, w, 10).Of(connectors.NeedAuthorization) {
		if one.Reason != "" {
			t.Errorf("the reason of a missing credential is %q", one.Reason)
		}
	}
}

func saveCredential(t *testing.T, w *fixture.World, c connectors.Connector, agent *connectors.AgentID) {
	t.Helper()
	if c.Auth.Type == connectors.AuthOAuth2 {
		g := newGrant(c)
		g.AgentID, g.Meta.ClientID = agent, c.OAuth.ClientID
		if err := w.Door().Accounts().SaveGrant(t.Context(), g); err != nil {
			t.Fatal(err)
		}
		return
	}
	n := store.NewCredential{ConnectorID: c.ID, AgentID: agent, Type: c.Auth.Type, Origin: connectors.Origin(c.URL), Secret: "secret"}
	if err := w.Door().Connectors().SetCredential(t.Context(), n); err != nil {
		t.Fatal(err)
	}
}

func reload(t *testing.T, w *fixture.World, c connectors.Connector) connectors.Connector {
	t.Helper()
	now, err := w.Door().Connectors().Get(t.Context(), connectors.Ref(c.Slug))
	if err != nil {
		t.Fatal(err)
	}
	return now
}

// wantStatus reads the status of the only connector in every way.
func wantStatus(t *testing.T, w *fixture.World, c connectors.Connector, want connectors.ConnectorStatus) {
	t.Helper()
	door := w.Door().Connectors()
	now := reload(t, w, c)
	if now.Status != want {
		t.Errorf("get: %s, want %s", now.Status, want)
	}
	if auth := now.Health(time.Now()).Authorized.State; want != connectors.StatusDisabled && (auth == connectors.AuthStatePerson) != (want == connectors.StatusNeedsAuth) {
		t.Errorf("health says %s, want %s", auth, want)
	}
	for name, f := range map[string]store.ConnectorFilter{
		"list": {}, "filter": {Status: want},
		"order":            {Page: store.Page{Order: store.SortOrder{By: "status"}}},
		"order and filter": {Status: want, Page: store.Page{Order: store.SortOrder{By: "status"}}},
	} {
		list, err := door.List(t.Context(), f)
		if err != nil || len(list.Items) != 1 || list.Items[0].Status != want {
			t.Errorf("%s: %+v, %v; want %s", name, list.Items, err, want)
		}
	}
	stats, err := door.Stats(t.Context())
	if err != nil || stats.ByStatus[want] != 1 || stats.Connectors != 1 {
		t.Errorf("stats: %+v, %v", stats, err)
	}
	figures, err := w.Door().Calls().Figures(t.Context(), time.Now())
	if err != nil || figures.Connectors[want] != 1 {
		t.Errorf("figures: %v, %v", figures.Connectors, err)
	}
	if n := needs(t, w, 1).Totals[connectors.NeedAuthorization]; (n == 1) != (want == connectors.StatusNeedsAuth) {
		t.Errorf("%d need authorization, want %s", n, want)
	}
}
