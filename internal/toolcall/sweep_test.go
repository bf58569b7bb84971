package toolcall_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
	"patchbay/internal/toolcall"
)

// A process that died in the middle of many calls leaves more than one statement ends.
func TestASweepEndsWhatIsLeftSomeAtATime(t *testing.T) {
	t.Parallel()
	ends := make(chan connectors.ToolCall, 3*store.MostSwept)
	b := newBench(t, modern, func(o *toolcall.Options) { o.Ended = func(c connectors.ToolCall) { ends <- c } })
	c := b.connector(t, b.remote)
	agent, dead := b.granted(t, c), fixture.NewInstance() // it never beats
	const left = 2*store.MostSwept + 7
	calls := make([]store.OwnedCall, left)
	for i := range calls {
		calls[i] = store.OwnedCall{Tenant: b.Tenant, ToolCall: connectors.ToolCall{
			ID: connectors.ToolCallID{UUID: uuid.Must(uuid.NewV7())}, AgentID: &agent.ID, ConnectorID: &c.ID, Kind: connectors.CallTool, Tool: "search",
			ExposedName: "search", Source: connectors.SourceGateway, Status: connectors.CallRunning, InstanceID: &dead, StartedAt: time.Now(),
		}}
	}
	must(t, b.St.System().BeginCalls(t.Context(), calls))

	// Somebody else holds one: it is left for later, and nobody waits for it.
	tx, err := b.Pool.Begin(t.Context())
	must(t, err)
	defer func() { _ = tx.Rollback(t.Context()) }()
	_, err = tx.Exec(t.Context(), "select set_config('app.system', 'on', true)")
	must(t, err)
	_, err = tx.Exec(t.Context(), "select from tool_calls where id = $1 for update", calls[0].ID)
	must(t, err)

	first, err := b.St.System().SweepGateway(t.Context(), fixture.NewInstance())
	if must(t, err); len(first) != store.MostSwept {
		t.Errorf("one round ends %d", len(first))
	}
	b.Sweep(t.Context())
	if got, want := len(ends), left-store.MostSwept-1; got != want {
		t.Errorf("a sweep ends %d, want %d", got, want)
	}
	must(t, tx.Rollback(t.Context()))
	b.Sweep(t.Context())
	if got, want := len(ends), left-store.MostSwept; got != want {
		t.Errorf("%d told in all, want %d", got, want)
	}
}
