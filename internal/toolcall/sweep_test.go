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

// A dead process leaves more calls than one statement ends.
func TestSweep_EndsAbandonedInBatches(t *testing.T) {
	t.Parallel()
	ended := make(chan connectors.ToolCall, 3*store.MaxSwept)
	b := newBench(t, withModernDialer, func(o *toolcall.Options) { o.OnEnd = func(c connectors.ToolCall) { ended <- c } })
	c := b.connector(t, b.remote)
	agent, dead := b.newGrantedAgent(t, c), fixture.NewInstance() // without heartbeat
	const abandoned = 2*store.MaxSwept + 7
	calls := make([]store.OwnedCall, abandoned)
	for i := range calls {
		calls[i] = store.OwnedCall{Tenant: b.Tenant, ToolCall: connectors.ToolCall{
			ID: connectors.ToolCallID{UUID: uuid.Must(uuid.NewV7())}, AgentID: &agent.ID, ConnectorID: &c.ID, Kind: connectors.CallTool, Tool: "search",
			ExposedName: "search", Source: connectors.SourceGateway, Status: connectors.CallRunning, InstanceID: &dead, StartedAt: time.Now(),
		}}
	}
	must(t, b.St.System().Calls().BeginCalls(t.Context(), calls))

	// A locked row is skipped, and ends in a later sweep.
	tx, err := b.Pool.Begin(t.Context())
	must(t, err)
	defer func() { _ = tx.Rollback(t.Context()) }()
	_, err = tx.Exec(t.Context(), "select set_config('app.system', 'on', true)")
	must(t, err)
	_, err = tx.Exec(t.Context(), "select from tool_calls where id = $1 for update", calls[0].ID)
	must(t, err)

	first, err := b.St.System().Calls().SweepGateway(t.Context(), fixture.NewInstance())
	if must(t, err); len(first) != store.MaxSwept {
		t.Errorf("one round ends %d", len(first))
	}
	b.Sweep(t.Context())
	if got, want := len(ended), abandoned-store.MaxSwept-1; got != want {
		t.Errorf("a sweep ends %d, want %d", got, want)
	}
	must(t, tx.Rollback(t.Context()))
	b.Sweep(t.Context())
	if got, want := len(ended), abandoned-store.MaxSwept; got != want {
		t.Errorf("%d told in all, want %d", got, want)
	}
}
