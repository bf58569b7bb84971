package calllog_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/calllog"
	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

// writerTest is a writer with a database.
type writerTest struct {
	*fixture.World
	writer    *calllog.Writer
	tenant    connectors.Tenant
	agent     connectors.Agent
	connector connectors.Connector
}

func newWriterTest(t testing.TB, opts ...func(*calllog.Options)) *writerTest {
	t.Helper()
	w := fixture.New(t)
	b := &writerTest{World: w, agent: w.Agent(t), connector: w.Connector(t), tenant: connectors.Tenant{ID: w.Tenant, CallHistory: connectors.HistoryFull}}
	b.writer = b.newWriter(t, w.St, opts...)
	return b
}

func (b *writerTest) newWriter(t testing.TB, st *store.Store, opts ...func(*calllog.Options)) *calllog.Writer {
	t.Helper()
	o := calllog.Options{Store: st, Instance: b.Instance, Interval: 10 * time.Millisecond}
	for _, opt := range opts {
		opt(&o)
	}
	w := calllog.New(o)
	t.Cleanup(func() { w.Stop(t.Context()) }) // t.Context has ended: what cannot be written is given up
	return w
}

func (b *writerTest) newCall() connectors.ToolCall {
	return connectors.ToolCall{
		ID: connectors.ToolCallID{UUID: uuid.Must(uuid.NewV7())}, AgentID: &b.agent.ID, AgentSlug: b.agent.Slug, ConnectorID: &b.connector.ID,
		ConnectorSlug: b.connector.Slug, Kind: connectors.CallTool, Tool: "search", ExposedName: "mcp_x__search", Source: connectors.SourceGateway,
		Status: connectors.CallRunning, Arguments: []byte(`{"q":1}`), StartedAt: time.Now(),
	}
}

// succeedWith ends a call with this content.
func succeedWith(content string) func(*connectors.ToolCall) {
	return func(c *connectors.ToolCall) {
		now := time.Now()
		c.Status, c.Outcome, c.CompletedAt, c.Duration = connectors.CallSuccess, connectors.OutcomeOK, &now, time.Millisecond
		c.Content, c.ResponseBytes = []byte(content), int64(len(content))
	}
}

func (b *writerTest) findCall(t testing.TB, id connectors.ToolCallID) connectors.ToolCall {
	t.Helper()
	b.writer.Flush(t.Context())
	c, err := b.Door().Calls().Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// countCalls counts stored calls of a tenant.
func (b *writerTest) countCalls(t testing.TB, where string) (n int) {
	t.Helper()
	tx, err := b.Pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(t.Context()) }()
	if _, err := tx.Exec(t.Context(), "select set_config('app.system', 'on', true)"); err != nil {
		t.Fatal(err)
	}
	if err := tx.QueryRow(t.Context(), "select count(*) from tool_calls where "+where).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
