package store_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

func TestAFirstSyncStoresItsToolsByteForByte(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := w.Connector(t)
	def := fixture.DefinitionOf("big", `{ "name":"big","x":12345678901234567890, "u":"\u0000 \ud800 <b>", "title":7, "description":"Größe\u0000" }`)
	run := w.Run(t, c.ID)

	done, err := w.Door().Syncs().Finish(t.Context(), run.ID, fixture.FirstResult(def))
	if err != nil {
		t.Fatal(err)
	}
	if done.State != connectors.SyncOK || done.Counts != (connectors.SyncCounts{Total: 1, Added: 1}) || done.ProtocolVersion != "2025-11-25" {
		t.Errorf("run = %+v", done)
	}
	tool, err := w.Door().Tools().Get(t.Context(), c.ID, "big")
	if err != nil {
		t.Fatal(err)
	}
	if string(tool.Raw) != string(def.Raw) || tool.Hash != def.Hash {
		t.Errorf("raw = %s", tool.Raw)
	}
	if tool.Title != "" || tool.Description != "Größe\uFFFD" {
		t.Errorf("title %q, description %q", tool.Title, tool.Description)
	}
	got, err := w.Door().Connectors().Get(t.Context(), connectors.Ref(c.Slug))
	if err != nil {
		t.Fatal(err)
	}
	if got.ToolCount != 1 || got.ToolsLastSyncedAt == nil || got.Server.Name != "example" || got.AuthBehaviour != connectors.AuthOpen ||
		!slices.Equal(got.DiscoveredTools, []string{"big"}) || got.Running != nil {
		t.Errorf("connector = %+v", got)
	}
}

func TestAnUnchangedListIsOneStatement(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := w.Connector(t)
	w.Synced(t, c.ID, "search", "create")
	first, err := w.Door().Connectors().Get(t.Context(), connectors.Ref(c.Slug))
	if err != nil {
		t.Fatal(err)
	}
	hash := fixture.ListHash(fixture.Definition("search"), fixture.Definition("create"))

	run := w.Run(t, c.ID)
	before, trips := w.Queries(), w.RoundTrips()
	ok, done, err := w.Door().Syncs().FinishUnchanged(t.Context(), run.ID, hash, store.ServerObservation{Total: 2, Server: connectors.Server{Version: "1.1.0"}})
	if err != nil || !ok {
		t.Fatalf("ok = %v, %v", ok, err)
	}
	if n := w.Queries() - before; n != 1 {
		t.Errorf("it took %d statements, want 1", n)
	}
	if n := w.RoundTrips() - trips; n != 1 {
		t.Errorf("it took %d round trips, want 1", n)
	}
	if done.State != connectors.SyncOK || done.Counts.Total != 2 || done.FinishedAt == nil {
		t.Errorf("run = %+v", done)
	}
	got, err := w.Door().Connectors().Get(t.Context(), connectors.Ref(c.Slug))
	if err != nil {
		t.Fatal(err)
	}
	if !got.ToolsLastSyncedAt.After(*first.ToolsLastSyncedAt) || got.Server.Version != "1.1.0" || got.AuthBehaviour != connectors.AuthOpen {
		t.Errorf("connector = %+v", got)
	}
	tool, err := w.Door().Tools().Get(t.Context(), c.ID, "search")
	if err != nil {
		t.Fatal(err)
	}
	if !tool.LastSeenAt.Equal(*got.ToolsLastSyncedAt) || !tool.ChangedAt.Equal(tool.FirstSeenAt) {
		t.Errorf("tool's dates = %+v", tool)
	}
}

func TestAnotherListIsNotFinishedAsUnchanged(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := w.Connector(t)
	w.Synced(t, c.ID, "search")
	run := w.Run(t, c.ID)
	ok, _, err := w.Door().Syncs().FinishUnchanged(t.Context(), run.ID, fixture.ListHash(fixture.Definition("other")), store.ServerObservation{})
	if ok || err != nil {
		t.Errorf("ok = %v, %v", ok, err)
	}
	wantState(t, w, run.ID, connectors.SyncRunning)
}

func TestOnlyWhatDiffersIsWritten(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := w.Connector(t)
	w.Synced(t, c.ID, "kept", "changed", "removed")
	synced, err := w.Door().Connectors().Get(t.Context(), connectors.Ref(c.Slug))
	if err != nil {
		t.Fatal(err)
	}
	versions := rowVersions(t, w)

	changed := fixture.DefinitionOf("changed", `{"name":"changed","description":"Does more."}`)
	added := fixture.Definition("added")
	old := fixture.Definition("changed").Hash
	res := fixture.FirstResult(fixture.Definition("kept"), changed, added)
	res.Diff = connectors.ToolDiff{
		Added:   []connectors.ToolWrite{{Name: "added", Current: added.Hash, Review: connectors.ReviewNew}},
		Changed: []connectors.ToolWrite{{Name: "changed", Current: changed.Hash, Accepted: &old, Review: connectors.ReviewChanged}},
		Removed: []string{"removed"},
	}
	run, err := w.Door().Syncs().Finish(t.Context(), w.Run(t, c.ID).ID, res)
	if err != nil {
		t.Fatal(err)
	}
	if run.Counts != (connectors.SyncCounts{Total: 3, Added: 1, Changed: 1, Removed: 1}) {
		t.Errorf("counts = %+v", run.Counts)
	}

	base, err := w.Door().Syncs().Baseline(t.Context(), c.ID)
	if err != nil {
		t.Fatal(err)
	}
	kept, removed := fixture.Definition("kept").Hash, fixture.Definition("removed").Hash
	want := []connectors.ToolState{
		{Name: "added", Current: added.Hash, Review: connectors.ReviewNew},
		{Name: "changed", Current: changed.Hash, Accepted: &old, Review: connectors.ReviewChanged},
		{Name: "kept", Current: kept, Accepted: &kept, Review: connectors.ReviewAccepted},
		{Name: "removed", Current: removed, Accepted: &removed, Review: connectors.ReviewAccepted, Removed: true},
	}
	if diff := cmp.Diff(want, base.Tools); diff != "" {
		t.Errorf("states (-want +got):\n%s", diff)
	}
	if base.ListHash == nil || *base.ListHash != res.ListHash {
		t.Errorf("list hash = %v", base.ListHash)
	}
	if after := rowVersions(t, w); after["kept"] != versions["kept"] || after["changed"] == versions["changed"] {
		t.Errorf("row versions went from %v to %v", versions, after)
	}
	gone, err := w.Door().Tools().Get(t.Context(), c.ID, "removed")
	if err != nil {
		t.Fatal(err)
	}
	if gone.RemovedAt == nil || !gone.LastSeenAt.Equal(*synced.ToolsLastSyncedAt) {
		t.Errorf("removed at %v, last seen %v, want the sync before: %v", gone.RemovedAt, gone.LastSeenAt, synced.ToolsLastSyncedAt)
	}
}

func TestAToolThatReturnsKeepsItsFirstDate(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := w.Connector(t)
	w.Synced(t, c.ID, "search")
	first, err := w.Door().Tools().Get(t.Context(), c.ID, "search")
	if err != nil {
		t.Fatal(err)
	}
	res := fixture.FirstResult()
	res.Diff.Removed = []string{"search"}
	if _, err := w.Door().Syncs().Finish(t.Context(), w.Run(t, c.ID).ID, res); err != nil {
		t.Fatal(err)
	}
	w.Synced(t, c.ID, "search")
	again, err := w.Door().Tools().Get(t.Context(), c.ID, "search")
	if err != nil {
		t.Fatal(err)
	}
	if again.RemovedAt != nil || !again.FirstSeenAt.Equal(first.FirstSeenAt) || !again.ChangedAt.Equal(first.ChangedAt) {
		t.Errorf("tool went from %+v to %+v", first, again)
	}
}

func TestFinishSync_ConstantStatements(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	cost := func(n int) (statements, trips int64) {
		defs := make([]connectors.Definition, n)
		for i := range defs {
			defs[i] = fixture.Definition(fmt.Sprintf("tool_%d_of_%d", i, n))
		}
		c := w.Connector(t)
		run, found := w.Run(t, c.ID), fixture.FirstResult(defs...)
		found.Diff.Policy = c.ToolChanges // as after a comparison
		statements, trips = w.Queries(), w.RoundTrips()
		if _, err := w.Door().Syncs().Finish(t.Context(), run.ID, found); err != nil {
			t.Fatal(err)
		}
		return w.Queries() - statements, w.RoundTrips() - trips
	}
	one, oneTrips := cost(1)
	many, manyTrips := cost(1000)
	if one != many || oneTrips != manyTrips {
		t.Errorf("1 tool: %d statements, %d round trips; 1000 tools: %d, %d", one, oneTrips, many, manyTrips)
	}
	if many > 7 || manyTrips > 5 {
		t.Errorf("%d statements in %d round trips, want at most 7 in 5", many, manyTrips)
	}
}

func TestADefinitionStandsOncePerTenant(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	w.Synced(t, w.Connector(t).ID, "search")
	w.Synced(t, w.Connector(t).ID, "search")
	w.SyncedIn(t, w.Other, w.ConnectorIn(t, w.Other).ID, "search")
	var mine, all int
	err := asSystem(t.Context(), w.Pool, "select count(*) filter (where tenant_id = $1), count(*) from tool_definitions", []any{w.Tenant}, &mine, &all)
	if err != nil || mine != 1 || all != 2 {
		t.Errorf("%d definitions of the tenant, %d in all (%v), want 1 and 2", mine, all, err)
	}
}

func TestQuarantined_OnlyLastList(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := w.Connector(t)
	name := "bad"
	finish := func(entries ...connectors.Quarantined) {
		t.Helper()
		res := fixture.FirstResult()
		res.Quarantined, res.ServerObservation.Quarantined = entries, len(entries)
		if _, err := w.Door().Syncs().Finish(t.Context(), w.Run(t, c.ID).ID, res); err != nil {
			t.Fatal(err)
		}
	}
	list := func(p store.Page) store.List[connectors.Quarantined] {
		t.Helper()
		got, err := w.Door().Tools().Quarantined(t.Context(), c.ID, p)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}

	entries := []connectors.Quarantined{
		{Name: &name, Reason: "inputSchema is no object", Raw: []byte(`{"name":"bad","inputSchema":1}`)},
		{Reason: "no object", Raw: []byte("\"\x00\"")},
		{Reason: "no object", Raw: []byte(`3`)},
	}
	finish(entries...)
	first := list(store.Page{Limit: 2})
	rest := list(store.Page{Limit: 2, Cursor: first.Next})
	if diff := cmp.Diff(entries, append(first.Items, rest.Items...)); diff != "" || rest.Next != "" {
		t.Errorf("quarantined (-want +got):\n%s", diff)
	}
	finish()
	if got := list(store.Page{}); len(got.Items) != 0 {
		t.Errorf("still quarantined: %v", got.Items)
	}
}

func TestAFailedSyncKeepsTheTools(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := w.Connector(t)
	w.Synced(t, c.ID, "search")
	run, err := w.Door().Syncs().Fail(t.Context(), w.Run(t, c.ID).ID, connectors.SyncError{Code: "timeout", Message: "The server did not answer in 30 s."}, store.ServerObservation{})
	if err != nil {
		t.Fatal(err)
	}
	if run.State != connectors.SyncFailed || run.ErrorCode != "timeout" || run.ErrorMessage == "" || run.FinishedAt == nil {
		t.Errorf("run = %+v", run)
	}
	got, err := w.Door().Connectors().Get(t.Context(), connectors.Ref(c.Slug))
	if err != nil {
		t.Fatal(err)
	}
	if got.LastError == nil || got.LastError.Code != "timeout" || got.ToolCount != 1 || len(got.DiscoveredTools) != 1 || got.ToolsLastSyncedAt == nil {
		t.Errorf("connector = %+v", got)
	}

	w.Synced(t, c.ID, "search")
	if got, err = w.Door().Connectors().Get(t.Context(), connectors.Ref(c.Slug)); err != nil || got.LastError != nil {
		t.Errorf("after a success the last error is %+v (%v)", got.LastError, err)
	}
}

func TestARunThatHasEndedIsNotEndedAgain(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := w.Connector(t)
	run := w.Synced(t, c.ID, "search")

	_, err := w.Door().Syncs().Finish(t.Context(), run.ID, fixture.FirstResult(fixture.Definition("other")))
	wantKind(t, err, fault.Conflict)
	_, err = w.Door().Syncs().Fail(t.Context(), run.ID, connectors.SyncError{Code: "timeout", Message: "Late."}, store.ServerObservation{})
	wantKind(t, err, fault.Conflict)
	ok, _, err := w.Door().Syncs().FinishUnchanged(t.Context(), run.ID, fixture.ListHash(fixture.Definition("search")), store.ServerObservation{})
	if ok || err != nil {
		t.Errorf("finished again as unchanged: %v, %v", ok, err)
	}
	if _, err := w.Door().Tools().Get(t.Context(), c.ID, "other"); !fault.Is(err, fault.NotFound) {
		t.Errorf("an ended run wrote a tool: %v", err)
	}
}

// rowVersions are the physical versions of the tools' rows: they differ where a row was written.
func rowVersions(t *testing.T, w *fixture.World) map[string]string {
	t.Helper()
	var all map[string]string
	if err := asSystem(t.Context(), w.Pool, "select jsonb_object_agg(name, ctid::text || xmin::text) from tools", nil, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

func TestFinishSync_ConnectorDeletedMeanwhile(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	for i := range 20 {
		c := w.Connector(t)
		run := w.Run(t, c.ID)
		var wg sync.WaitGroup
		wg.Go(func() {
			_, err := w.Door().Syncs().Finish(t.Context(), run.ID, fixture.FirstResult(fixture.Definition(fmt.Sprintf("tool_%d", i))))
			if err != nil && !fault.Is(err, fault.NotFound) {
				t.Errorf("finish: %v", err)
			}
		})
		wg.Go(func() {
			if err := w.Door().Connectors().Delete(t.Context(), c.ID); err != nil {
				t.Errorf("delete: %v", err)
			}
		})
		wg.Wait()
	}
	list, err := w.Door().Tools().List(t.Context(), store.ToolFilter{Removed: true})
	if err != nil || len(list.Items) != 0 {
		t.Errorf("tools left: %v, %v", toolNames(list), err)
	}
}

func TestFinishSync_SameToolsDoNotBlock(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	var defs []connectors.Definition
	for i := range 50 {
		defs = append(defs, fixture.Definition(fmt.Sprintf("tool_%d", i)))
	}
	var wg sync.WaitGroup
	for i := range 6 {
		run := w.Run(t, w.Connector(t).ID)
		mine := slices.Clone(defs)
		if i%2 == 1 {
			slices.Reverse(mine)
		}
		wg.Go(func() {
			if _, err := w.Door().Syncs().Finish(t.Context(), run.ID, fixture.FirstResult(mine...)); err != nil {
				t.Errorf("finish: %v", err)
			}
		})
	}
	wg.Wait()
}
