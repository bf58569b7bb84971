package store_test

import (
	"context"
	"fmt"
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

// version is one of many definitions of a tool.
func version(tool string, n int) connectors.Definition {
	return fixture.DefinitionOf(tool, fmt.Sprintf(`{"name":%q,"description":"Version %d.","inputSchema":{"type":"object"}}`, tool, n))
}

// changesOf is a tool's history, the newest first.
func changesOf(t *testing.T, w *fixture.World, c connectors.ConnectorID, tool string) []connectors.ToolChange {
	t.Helper()
	list, err := w.Door().Tools().ChangesOf(t.Context(), c, tool, store.Page{})
	if err != nil {
		t.Fatal(err)
	}
	return list.Items
}

func TestSweepChanges_KeepsNewestOfEachTool(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	held := w.Connector(t, func(d *connectors.Draft) { d.ToolChanges = connectors.ToolChangesHoldAll })
	auto := w.Connector(t, func(d *connectors.Draft) { d.ToolChanges = connectors.ToolChangesAuto })
	decide := func(accept bool) {
		t.Helper()
		if err := w.Door().Tools().Decide(t.Context(), store.ToolDecision{Connector: held.ID, Tool: "search", Accept: accept, By: "Ann"}); err != nil {
			t.Fatal(err)
		}
	}
	for n := range 4 {
		w.Resynced(t, auto.ID, version("list", n))
		w.Resynced(t, held.ID, version("search", n))
		if n == 2 {
			decide(true) // version 2 is accepted, and 3 waits
		}
	}
	w.Backdate(t, 100)
	if n := swept(t, w, connectors.PartChanges, 90); n != 3 {
		t.Errorf("%d changes went", n)
	}
	now := changesOf(t, w, held.ID, "search")
	if len(now) != 2 || now[0].State != connectors.ChangeWaiting || now[1].State != connectors.ChangeAccepted || now[1].DecidedBy != "Ann" {
		t.Errorf("%+v", now)
	}
	if last := changesOf(t, w, auto.ID, "list"); len(last) != 1 || *last[0].After != version("list", 3).Hash {
		t.Errorf("%+v", last)
	}
	decide(false)
	decide(true) // what was rejected may be accepted after all, with what is left of its history
}

func TestAChangeThatWasDecidedLatelyIsNotOld(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := w.Connector(t, func(d *connectors.Draft) { d.ToolChanges = connectors.ToolChangesAuto })
	for n := range 4 {
		w.Resynced(t, c.ID, version("list", n))
	}
	w.Backdate(t, 100)
	w.AsSystem(t, "update tool_changes set state = 'accepted', decided_at = now() - interval '80 days' where id = (select id from tool_changes order by id limit 1)", nil)
	if n := swept(t, w, connectors.PartChanges, 90); n != 1 {
		t.Errorf("%d changes went", n)
	}
}

func TestDefinitionsGoWhenNothingRefersToThem(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := w.Connector(t, func(d *connectors.Draft) { d.ToolChanges = connectors.ToolChangesHoldAll })
	for n := range 5 {
		w.Resynced(t, c.ID, version("search", n))
	}
	if err := w.Door().Tools().Decide(t.Context(), store.ToolDecision{Connector: c.ID, Tool: "search", By: "Ann"}); err != nil { // 4 is rejected, 0 accepted
		t.Fatal(err)
	}
	deleted := w.Connector(t)
	w.Resynced(t, deleted.ID, version("alone", 1))
	if err := w.Door().Connectors().Delete(t.Context(), deleted.ID); err != nil {
		t.Fatal(err)
	}
	asked := version("asked", 1)
	w.AsSystem(t, `insert into tool_definitions (tenant_id, hash, raw, search) values ($1, $2, $3, '')`, []any{w.Tenant, asked.Hash[:], asked.Raw})
	waiting := newApproval(w.Agent(t), c, "a call")
	waiting.Definition = asked.Hash
	if _, _, err := w.Door().Calls().RequestApproval(t.Context(), waiting); err != nil {
		t.Fatal(err)
	}
	w.Backdate(t, 100)
	if n := swept(t, w, connectors.PartDefinitions, 90); n != 1 {
		t.Errorf("%d definitions went although changes show them", n)
	}
	swept(t, w, connectors.PartChanges, 90)
	if n := swept(t, w, connectors.PartDefinitions, 90); n != 3 {
		t.Errorf("%d definitions went", n)
	}
	left, err := w.Door().Tools().Definitions(t.Context(), []connectors.Hash{version("search", 0).Hash, version("search", 3).Hash, version("search", 4).Hash, asked.Hash})
	if err != nil || len(left) != 3 {
		t.Errorf("%d are left of the accepted, the rejected and the one that a call waits with; %v", len(left), err)
	}
}

func TestSweepDefinitions_KeepsYoung(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := w.Connector(t)
	w.Resynced(t, c.ID, version("alone", 1))
	if err := w.Door().Connectors().Delete(t.Context(), c.ID); err != nil {
		t.Fatal(err)
	}
	if n := swept(t, w, connectors.PartDefinitions, 90); n != 0 {
		t.Errorf("%d went", n)
	}
}

// A sync that finds a definition again while it is being swept waits for that, and stores it anew.
func TestSweepDefinitions_ConcurrentReuse(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := w.Connector(t)
	back := version("search", 1)
	w.AsSystem(t, `insert into tool_definitions (tenant_id, hash, raw, search, created_at) values ($1, $2, $3, '', now() - interval '100 days')`,
		[]any{w.Tenant, back.Hash[:], back.Raw})

	sweeping, err := w.Pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = sweeping.Rollback(context.WithoutCancel(t.Context())) }()
	for _, statement := range []string{"select set_config('app.system', 'on', true)", "delete from tool_definitions"} {
		if _, err := sweeping.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	run := w.Run(t, c.ID)
	synced := make(chan error, 1)
	go func() {
		_, err := w.Door().Syncs().Finish(t.Context(), run.ID, fixture.FirstResult(back))
		synced <- err
	}()
	blocked(t, w)
	if err := sweeping.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-synced; err != nil {
		t.Fatal(err)
	}
	if defs, err := w.Door().Tools().Definitions(t.Context(), []connectors.Hash{back.Hash}); err != nil || len(defs) != 1 {
		t.Errorf("%d definitions, %v", len(defs), err)
	}
}
