package store_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

// Whichever statement writes a call, and however it ends, where it came from is what it was when it began.
func TestWhereACallCameFromStaysWithIt(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	origins := []connectors.CallOrigin{
		connectors.CallOriginOf("203.0.113.9", "request-of-one"), connectors.CallOriginOf("2001:db8::9", "request-of-two"), connectors.CallOriginOf("fe80::1%eth0", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
		connectors.CallOriginOf("", "request-of-four"), connectors.CallOriginOf("203.0.113.9", ""), {}, connectors.CallOriginOf("203.0.113.9", "request-of-one"),
	}
	calls := batchOf(t, w, 1, len(origins))
	want := map[connectors.ToolCallID]connectors.CallOrigin{}
	for i := range calls {
		calls[i].ID.UUID = uuid.Must(uuid.NewV7())
		calls[i].Outcome, calls[i].CallOrigin, want[calls[i].ID] = connectors.OutcomeOK, origins[i], origins[i]
	}
	begun := append([]store.OwnedCall(nil), calls[1:4]...)
	for i := range begun {
		begun[i].Status, begun[i].Outcome, begun[i].CompletedAt, begun[i].InstanceID = connectors.CallRunning, connectors.OutcomeNone, nil, &w.Instance
	}
	must(w.St.System().Calls().BeginCalls(t.Context(), begun))
	must(w.Door().Calls().SaveCallTask(t.Context(), calls[3].ID, store.CallTask{State: []byte("{}"), Handle: "handle"}))
	calls[1].CallOrigin = connectors.CallOrigin{} // unknown to the ending process
	must(w.St.System().Calls().EndCalls(t.Context(), append(append([]store.OwnedCall(nil), calls[:3]...), calls[4:]...)))

	waits := newCall(w.Agent(t), w.Connector(t), connectors.ToolCallID{UUID: uuid.Must(uuid.NewV7())})
	waits.CallOrigin = connectors.CallOriginOf("203.0.113.11", "request-that-waits")
	want[waits.ID] = waits.CallOrigin
	must(w.Door().Calls().InsertPendingCall(t.Context(), waits))
	must(w.Door().Calls().StartPendingCall(t.Context(), waits.ID, w.Instance, "somebody"))

	list, err := w.Door().Calls().List(t.Context(), store.CallFilter{})
	must(err)
	listed := map[connectors.ToolCallID]connectors.CallOrigin{}
	for _, c := range list.Items {
		listed[c.ID] = c.CallOrigin
		one, err := w.Door().Calls().Get(t.Context(), c.ID)
		if err != nil || one.CallOrigin != c.CallOrigin {
			t.Errorf("one: %v, in the list: %v (%v)", one.CallOrigin, c.CallOrigin, err)
		}
	}
	if diff := cmp.Diff(want, listed, cmpopts.EquateComparable(connectors.CallOrigin{})); diff != "" {
		t.Errorf("(-was +is):\n%s", diff)
	}
	tasks, err := w.Door().Calls().TaskCalls(t.Context(), store.CallFilter{})
	if err != nil || len(tasks.Items) != 1 || tasks.Items[0].CallOrigin != origins[3] {
		t.Errorf("the task: %+v, %v", tasks.Items, err)
	}
	if check, err := w.Door().Audit().CheckOutcomes(t.Context(), nil, time.Time{}); err != nil || check.Bad != nil || check.Calls != 6 {
		t.Errorf("%+v %+v, %v", check, check.Bad, err)
	}
}
