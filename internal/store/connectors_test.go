package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

func TestAConnectorComesBackAsItWasStored(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	draft := fixture.Draft(func(d *connectors.Draft) {
		d.Description = "Issues, “quoted”."
		d.Headers = map[string]string{"X-Team": "eu"}
		d.CredentialMode = connectors.CredentialPerAgent
		d.Auth = connectors.Auth{Type: connectors.AuthAPIKey, Header: "X-Key"}
		d.Timeout = 1500 * time.Millisecond
		d.SyncInterval = 0
		d.DefinitionAge = 5 * time.Minute
		d.RetryBackoff, d.ConnectTimeout, d.ResponseBytes, d.Reconnects = time.Second, 3*time.Second, 1<<20, 0
		d.Methods = []string{"acme/*"}
	})

	made, err := w.Door().Connectors().Create(t.Context(), draft)
	if err != nil {
		t.Fatal(err)
	}
	got, err := w.Door().Connectors().Get(t.Context(), connectors.Ref(draft.Slug))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(made, got); diff != "" {
		t.Errorf("read differs from created (-created +read):\n%s", diff)
	}
	want := connectors.Connector{
		ID: made.ID, Settings: connectors.Settings{Slug: draft.Slug, Name: draft.Name, Description: draft.Description, Transport: draft.Transport, URL: draft.URL,
			Headers: draft.Headers, CredentialMode: draft.CredentialMode, Auth: draft.Auth, Timeout: draft.Timeout,
			RetryAttempts: draft.RetryAttempts, Enabled: true, ToolChanges: draft.ToolChanges, Listen: connectors.ListenAuto, DefinitionAge: draft.DefinitionAge, SessionPerAgent: true,
			RetryBackoff: time.Second, ConnectTimeout: 3 * time.Second, ResponseBytes: 1 << 20, Methods: []string{"acme/*"}}, Version: 1,
		Status: connectors.StatusNeverSynced, AuthBehaviour: connectors.AuthUnknown, DiscoveredTools: []string{}, Tags: []string{},
		Credentials: connectors.CredentialsState{NeedsPerson: true},
		CreatedAt:   got.CreatedAt, UpdatedAt: got.UpdatedAt,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("connector (-want +got):\n%s", diff)
	}
	if got.CreatedAt.Location() != time.UTC {
		t.Errorf("created_at is in %s, want UTC", got.CreatedAt.Location())
	}
}

func TestTwoConnectorsCannotShareASlugOrAName(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	first := w.Connector(t)

	_, err := w.Door().Connectors().Create(t.Context(), fixture.Draft(func(d *connectors.Draft) { d.Slug = first.Slug }))
	wantField(t, err, fault.Conflict, "slug")
	_, err = w.Door().Connectors().Create(t.Context(), fixture.Draft(func(d *connectors.Draft) { d.Name = first.Name }))
	wantField(t, err, fault.Conflict, "name")

	w.ConnectorIn(t, w.Other, func(d *connectors.Draft) { d.Slug, d.Name = first.Slug, first.Name }) // another tenant may
}

func TestAnEditOnAStaleVersionIsRefused(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := w.Connector(t)

	edited, err := w.Door().Connectors().Update(t.Context(), c.ID, c.Version, fixture.Draft())
	if err != nil {
		t.Fatal(err)
	}
	if edited.Version != c.Version+1 {
		t.Errorf("version = %d, want %d", edited.Version, c.Version+1)
	}
	_, err = w.Door().Connectors().Update(t.Context(), c.ID, c.Version, fixture.Draft())
	wantKind(t, err, fault.Conflict)
	if _, err = w.Door().Connectors().Update(t.Context(), c.ID, 0, fixture.Draft()); err != nil {
		t.Errorf("version 0 was refused: %v", err)
	}
}

func TestAConnectorsStatusFollowsItsSyncs(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	door := w.Door()
	c := w.Connector(t)
	wantStatus := func(want connectors.ConnectorStatus) {
		t.Helper()
		got, err := door.Connectors().Get(t.Context(), connectors.Ref(c.ID.String()))
		if err != nil {
			t.Fatal(err)
		}
		if got.Status != want {
			t.Errorf("status = %s, want %s", got.Status, want)
		}
	}
	fail := func(code string) {
		t.Helper()
		if _, err := door.Syncs().Fail(t.Context(), w.Run(t, c.ID).ID, connectors.SyncError{Code: code, Message: "It failed."}, store.ServerObservation{}); err != nil {
			t.Fatal(err)
		}
	}

	wantStatus(connectors.StatusNeverSynced)
	w.Synced(t, c.ID, "search")
	wantStatus(connectors.StatusOK)
	fail("timeout")
	wantStatus(connectors.StatusError)
	fail("unauthorized")
	wantStatus(connectors.StatusNeedsAuth)
	w.Credential(t, c.ID, nil, "new token")
	wantStatus(connectors.StatusNeedsAuth) // only the next sync can tell
	if _, err := door.Connectors().Update(t.Context(), c.ID, 0, fixture.Draft(func(d *connectors.Draft) { d.Enabled = false })); err != nil {
		t.Fatal(err)
	}
	wantStatus(connectors.StatusDisabled)
}

func TestConnectorsAreListedByNameInPages(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	for _, name := range []string{"delta", "Alpha", "charlie", "Bravo", "echo"} {
		w.Connector(t, func(d *connectors.Draft) { d.Name = name })
	}
	w.ConnectorIn(t, w.Other)

	var got []string
	page := store.Page{Limit: 2}
	for {
		list, err := w.Door().Connectors().List(t.Context(), store.ConnectorFilter{Page: page})
		if err != nil {
			t.Fatal(err)
		}
		if len(list.Items) > 2 {
			t.Fatalf("a page has %d items", len(list.Items))
		}
		for _, c := range list.Items {
			got = append(got, c.Name)
		}
		if page.Cursor = list.Next; page.Cursor == "" {
			break
		}
	}
	if diff := cmp.Diff([]string{"Alpha", "Bravo", "charlie", "delta", "echo"}, got); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}

func TestConnectorsAreFoundByTextAndStatus(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	w.Connector(t, func(d *connectors.Draft) { d.Name, d.URL = "Linear", "https://mcp.linear.app/mcp" })
	w.Connector(t, func(d *connectors.Draft) { d.Name, d.Enabled = "100% sure_thing", false })

	for _, tc := range []struct {
		filter store.ConnectorFilter
		want   []string
	}{
		{store.ConnectorFilter{Query: "LINEAR.app"}, []string{"Linear"}},
		{store.ConnectorFilter{Query: "0% s"}, []string{"100% sure_thing"}},
		{store.ConnectorFilter{Query: "e_t"}, []string{"100% sure_thing"}},
		{store.ConnectorFilter{Query: "nothing\x00like it\xff"}, nil},
		{store.ConnectorFilter{Status: connectors.StatusDisabled}, []string{"100% sure_thing"}},
		{store.ConnectorFilter{Status: "no such status"}, nil},
	} {
		list, err := w.Door().Connectors().List(t.Context(), tc.filter)
		if err != nil {
			t.Fatalf("%+v: %v", tc.filter, err)
		}
		var got []string
		for _, c := range list.Items {
			got = append(got, c.Name)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", tc.filter, diff)
		}
	}
}

func TestConnectors_ConstantQueries(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	cost := func() int64 {
		before := w.Queries()
		if _, err := w.Door().Connectors().List(t.Context(), store.ConnectorFilter{}); err != nil {
			t.Fatal(err)
		}
		return w.Queries() - before
	}
	for i := range 30 {
		c := w.Connector(t)
		w.Synced(t, c.ID, "one", fmt.Sprintf("two_%d", i))
		if i == 2 || i == 29 {
			if got := cost(); got != 1 {
				t.Errorf("listing %d connectors took %d queries, want 1", i+1, got)
			}
		}
	}
	list, err := w.Door().Connectors().List(t.Context(), store.ConnectorFilter{})
	if err != nil {
		t.Fatal(err)
	}
	if got := list.Items[0].DiscoveredTools; len(got) != 2 || got[0] != "one" {
		t.Errorf("discovered tools = %v", got)
	}
}

func TestStatsCountConnectorsAndTools(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	ok, failed := w.Connector(t), w.Connector(t)
	w.Connector(t)
	w.Synced(t, ok.ID, "a", "b", "c")
	if _, err := w.Door().Syncs().Fail(t.Context(), w.Run(t, failed.ID).ID, connectors.SyncError{Code: "timeout", Message: "Slow."}, store.ServerObservation{}); err != nil {
		t.Fatal(err)
	}
	w.SyncedIn(t, w.Other, w.ConnectorIn(t, w.Other).ID, "x")

	got, err := w.Door().Connectors().Stats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := store.Stats{Connectors: 3, Tools: 3, NeedAttention: 1, ByStatus: map[connectors.ConnectorStatus]int{
		connectors.StatusOK: 1, connectors.StatusError: 1, connectors.StatusNeverSynced: 1,
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("stats (-want +got):\n%s", diff)
	}
}

func TestDeleteConnector_DeletesDependents(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := w.Connector(t)
	w.Credential(t, c.ID, nil, "token")
	run := w.Synced(t, c.ID, "search")

	if err := w.Door().Connectors().Delete(t.Context(), c.ID); err != nil {
		t.Fatal(err)
	}
	_, err := w.Door().Connectors().Get(t.Context(), connectors.Ref(c.Slug))
	wantKind(t, err, fault.NotFound)
	_, err = w.Door().Syncs().Get(t.Context(), run.ID)
	wantKind(t, err, fault.NotFound)
	_, _, err = w.St.Vault(w.Tenant).Secret(t.Context(), c.ID, nil)
	wantKind(t, err, fault.NotFound)
	wantKind(t, w.Door().Connectors().Delete(t.Context(), c.ID), fault.NotFound)
}

func TestConnector_MalformedReferenceIsNotFound(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	for _, ref := range []connectors.Ref{"", "UPPER", "a b", "x\x00y", "../etc", "0190e0e0-0000-7000-8000-00000000000g", "{0190e0e0-0000-7000-8000-000000000000}"} {
		_, err := w.Door().Connectors().Get(t.Context(), ref)
		wantKind(t, err, fault.NotFound)
		_, err = w.Door().Agents().Get(t.Context(), ref)
		wantKind(t, err, fault.NotFound)
		_, err = w.St.System().TenantByRef(t.Context(), string(ref))
		wantKind(t, err, fault.NotFound)
	}
}

func wantKind(t *testing.T, err error, want fault.Kind) {
	t.Helper()
	if !fault.Is(err, want) {
		t.Errorf("error = %v, want a fault of kind %q", err, want)
	}
}

func wantField(t *testing.T, err error, kind fault.Kind, location string) {
	t.Helper()
	wantKind(t, err, kind)
	if f := fault.As(err); f == nil || len(f.Fields) != 1 || f.Fields[0].Location != location {
		t.Errorf("error = %#v, want the field %q", f, location)
	}
}
