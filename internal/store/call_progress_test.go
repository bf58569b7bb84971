package store_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

func TestProgressIsOfCallsThatGoOn(t *testing.T) {
	t.Parallel()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	w := fixture.New(t)
	c, a := w.Connector(t), w.Agent(t)
	goesOn := runningIn(t, w, w.Tenant, newCall(a, c, connectors.ToolCallID{}), "")
	locked := runningIn(t, w, w.Tenant, newCall(a, c, connectors.ToolCallID{}), "")
	ended := runningIn(t, w, w.Tenant, newCall(a, c, connectors.ToolCallID{}), "")
	_, err := w.Door().Calls().EndCallTask(t.Context(), connectors.ToolCall{ID: ended, Status: connectors.CallSuccess, Outcome: connectors.OutcomeOK})
	must(err)
	hold, err := w.Pool.Begin(t.Context())
	must(err)
	defer hold.Rollback(t.Context())
	_, err = hold.Exec(t.Context(), "select set_config('app.system', 'on', true)")
	must(err)
	_, err = hold.Exec(t.Context(), "select from tool_calls where id = $1 for update", locked)
	must(err)

	far := &connectors.CallProgress{Done: new(3.0), Total: 10, Message: "copying \x00 \u202e"}
	var calls []store.OwnedCall
	for _, id := range []connectors.ToolCallID{goesOn, locked, ended, {UUID: uuid.Must(uuid.NewV7())}} {
		calls = append(calls, store.OwnedCall{Tenant: w.Tenant, ToolCall: connectors.ToolCall{ID: id, Progress: far}})
	}
	noted, err := w.St.System().Calls().NoteProgress(t.Context(), calls)
	must(err)
	if diff := cmp.Diff([]connectors.ToolCallID{goesOn}, noted); diff != "" {
		t.Errorf("noted: %s", diff)
	}
	theirs := []store.OwnedCall{{Tenant: w.Other, ToolCall: connectors.ToolCall{ID: goesOn, Progress: &connectors.CallProgress{Message: "theirs"}}}}
	if noted, err = w.St.System().Calls().NoteProgress(t.Context(), theirs); err != nil || len(noted) != 0 {
		t.Errorf("under another tenant: %v, %v", noted, err)
	}
	for id, want := range map[connectors.ToolCallID]*connectors.CallProgress{goesOn: far, locked: nil, ended: nil} {
		call, err := w.Door().Calls().Get(t.Context(), id)
		must(err)
		if diff := cmp.Diff(want, call.Progress); diff != "" {
			t.Error(diff)
		}
	}
	list, err := w.Door().Calls().List(t.Context(), store.CallFilter{})
	must(err)
	if last := list.Items[len(list.Items)-1]; last.ID != goesOn || last.Progress == nil {
		t.Errorf("the list has no progress: %+v", last)
	}
}
