package store_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

func needs(t *testing.T, w *fixture.World, max int) connectors.Needs {
	t.Helper()
	n, err := w.Door().Lists().AttentionItems(t.Context(), max)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestNeeds_MostUrgentFirst(t *testing.T) {
	t.Parallel()
	o := newOutsider(t) // with a call and a change that wait
	missing := o.Connector(t, func(d *connectors.Draft) { d.Auth.Type = connectors.AuthBearer })
	down := o.Connector(t)
	run := o.Run(t, down.ID)
	if _, err := o.Door().Syncs().Fail(t.Context(), run.ID, connectors.SyncError{Code: "timeout", Message: "It was silent."}, store.ServerObservation{}); err != nil {
		t.Fatal(err)
	}
	emptied := o.Connector(t)
	o.Synced(t, emptied.ID, "search")
	o.Resynced(t, emptied.ID)
	lapsing := o.Connector(t, func(d *connectors.Draft) { d.Auth.Type = connectors.AuthOAuth2 })
	ends := time.Now().Add(5 * time.Hour).UTC().Truncate(time.Microsecond)
	err := o.Door().Accounts().SaveGrant(t.Context(), store.NewGrant{
		ConnectorID: lapsing.ID, Origin: connectors.Origin(lapsing.URL), GrantTokens: store.GrantTokens{AccessToken: "access", ExpiresAt: &ends},
	})
	if err != nil {
		t.Fatal(err)
	}

	asked, err := o.Door().AccessRequests().Create(t.Context(), connectors.AccessRequest{
		AgentID: o.agent.ID, ConnectorID: down.ID, AllTools: true, Reason: "For the report.", AskedBy: "Ann",
	})
	if err != nil {
		t.Fatal(err)
	}

	n := needs(t, o.World, 50)
	if b, err := o.Door().Badges(t.Context()); err != nil || b.Total() != n.Total() || b.Approvals != n.Totals[connectors.NeedApproval] {
		t.Errorf("badges count %+v, %v, want %v", b, err, n.Totals)
	}
	var order []connectors.NeedKind
	named := map[connectors.NeedKind]bool{}
	for _, one := range n.List {
		if len(order) == 0 || order[len(order)-1] != one.Kind {
			order = append(order, one.Kind)
		}
		switch {
		case one.Kind == connectors.NeedAuthorization && one.ConnectorSlug == missing.Slug && !one.Again,
			one.Kind == connectors.NeedServer && one.ConnectorSlug == down.Slug && one.Reason == "It was silent.",
			one.Kind == connectors.NeedTools && one.ConnectorSlug == emptied.Slug && one.Vanished.Tools == 1 && one.Vanished.Of == 1,
			one.Kind == connectors.NeedRenewal && one.ConnectorSlug == lapsing.Slug && one.At.Equal(ends),
			one.Kind == connectors.NeedReview && one.ConnectorSlug == o.changed.Slug,
			one.Kind == connectors.NeedAccess && one.Request == asked && one.Asker == "Ann" && one.Agent == o.agent.Name,
			one.Kind == connectors.NeedApproval && one.Call == o.waiting.ID && one.Agent == o.agent.Name:
			named[one.Kind] = true
		}
	}
	if diff := cmp.Diff(connectors.NeedKinds, order); diff != "" || len(named) != len(order) {
		t.Errorf("order (-want +got):\n%s\nfound: %v\n%+v", diff, named, n.List)
	}
}

func TestNeeds_ListsSomeAndCountsAll(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	for range 4 {
		w.Connector(t, func(d *connectors.Draft) { d.Auth.Type = connectors.AuthBearer })
	}
	off := w.Connector(t, func(d *connectors.Draft) { d.Auth.Type = connectors.AuthBearer; d.Enabled = false })
	stored := w.Connector(t, func(d *connectors.Draft) { d.Auth.Type = connectors.AuthBearer })
	w.Credential(t, stored.ID, nil, "token")
	n := needs(t, w, 3)
	if b, err := w.Door().Badges(t.Context()); err != nil || b.Total() != n.Total() {
		t.Errorf("badges count %+v, %v", b, err)
	}
	if len(n.List) != 3 || n.Total() != 4 || n.Totals[connectors.NeedAuthorization] != 4 {
		t.Errorf("%d listed, %v counted", len(n.List), n.Totals)
	}
	for _, one := range n.List {
		if one.ConnectorSlug == off.Slug || one.ConnectorSlug == stored.Slug {
			t.Errorf("%s needs nobody", one.ConnectorSlug)
		}
	}
}

func TestNeeds_ExpiredAccountIsListedOnce(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := w.Connector(t, func(d *connectors.Draft) {
		d.Auth.Type = connectors.AuthOAuth2
		d.CredentialMode = connectors.CredentialPerAgent
	})
	save := func(ends time.Time, agent *connectors.AgentID) {
		t.Helper()
		err := w.Door().Accounts().SaveGrant(t.Context(), store.NewGrant{
			ConnectorID: c.ID, AgentID: agent, Origin: connectors.Origin(c.URL), GrantTokens: store.GrantTokens{AccessToken: "access", ExpiresAt: &ends},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	soon := w.Agent(t)
	save(time.Now().Add(-time.Hour), new(w.Agent(t).ID))
	save(time.Now().Add(time.Hour), &soon.ID)
	if n := needs(t, w, 50); n.Totals[connectors.NeedRenewal] != 2 || n.Total() != 2 {
		t.Fatalf("before the server refuses: %v", n.Totals)
	}
	run := w.Run(t, c.ID)
	if _, err := w.Door().Syncs().Fail(t.Context(), run.ID, connectors.SyncError{Code: "credential_required", Message: "The account expired."}, store.ServerObservation{}); err != nil {
		t.Fatal(err)
	}
	n := needs(t, w, 50)
	if b, err := w.Door().Badges(t.Context()); err != nil || b.Total() != n.Total() {
		t.Errorf("badges count %+v, %v", b, err)
	}
	if n.Totals[connectors.NeedAuthorization] != 1 || n.Totals[connectors.NeedRenewal] != 1 || n.Of(connectors.NeedRenewal)[0].AgentSlug != soon.Slug {
		t.Errorf("%+v", n.List)
	}
}
