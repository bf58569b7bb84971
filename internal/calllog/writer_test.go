package calllog_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"patchbay/db"
	"patchbay/internal/calllog"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

func TestWriter_StoresACallFromItsBeginning(t *testing.T) {
	t.Parallel()
	b := newWriterTest(t)
	e := b.writer.Begin(b.tenant, b.newCall())
	id := e.Call().ID
	if row := b.findCall(t, id); row.Status != connectors.CallRunning || row.InstanceID == nil || *row.InstanceID != b.Instance || string(row.Arguments) != `{"q":1}` {
		t.Errorf("row = %+v", row)
	}
	e.End(succeedWith(`[{"type":"text","text":"x"}]`))
	row := b.findCall(t, id)
	if row.Status != connectors.CallSuccess || string(row.Content) != `[{"type":"text","text":"x"}]` || row.CompletedAt == nil || row.Duration != time.Millisecond {
		t.Errorf("row = %+v", row)
	}
	e.End(func(c *connectors.ToolCall) { c.Status = connectors.CallError }) // ignored
	if row := b.findCall(t, id); row.Status != connectors.CallSuccess {
		t.Errorf("row = %+v", row)
	}
}

func TestWriter_WritesAShortCallOnce(t *testing.T) {
	t.Parallel()
	b := newWriterTest(t, func(o *calllog.Options) { o.Interval = time.Hour })
	before := b.Queries()
	var last connectors.ToolCallID
	for range 999 { // one batch; with a thousand it would start earlier
		e := b.writer.Begin(b.tenant, b.newCall())
		e.End(succeedWith("[]"))
		last = e.Call().ID
	}
	b.writer.Flush(t.Context())
	if n := b.Queries() - before; n != 1 {
		t.Errorf("%d statements", n)
	}
	b.findCall(t, last)
}

func TestWriter_AppliesTheTenantsRetention(t *testing.T) {
	t.Parallel()
	b := newWriterTest(t)
	for how, want := range map[connectors.CallHistory][2]string{
		connectors.HistoryNone:     {"", ""},
		connectors.HistoryRedacted: {`{"token":"[redacted]","q":1}`, `[{"type":"text","text":"password=[redacted]"}]`},
		connectors.HistoryFull:     {`{"token":"abc","q":1}`, `[{"type":"text","text":"password=hunter2"}]`},
	} {
		b.tenant.CallHistory = how
		c := b.newCall()
		c.Arguments = []byte(`{"token":"abc","q":1}`)
		e := b.writer.Begin(b.tenant, c)
		copy(c.Arguments, "#########") // the caller reuses it
		e.End(succeedWith(`[{"type":"text","text":"password=hunter2"}]`))
		row := b.findCall(t, c.ID)
		if string(row.Arguments) != want[0] || string(row.Content) != want[1] || row.ResponseBytes == 0 {
			t.Errorf("%s: %s %s", how, row.Arguments, row.Content)
		}
	}
}

func TestEndLent_CopiesContents(t *testing.T) {
	t.Parallel()
	b := newWriterTest(t)
	c := b.newCall()
	content, structured := []byte(`[{"type":"text","text":"x"}]`), []byte(`{"n":1}`)
	b.writer.Begin(b.tenant, c).EndPooled(func(c *connectors.ToolCall) {
		succeedWith(string(content))(c)
		c.Content, c.Structured = content, structured
	})
	clear(content) // the caller reuses it
	clear(structured)
	if row := b.findCall(t, c.ID); string(row.Content) != `[{"type":"text","text":"x"}]` || string(row.Structured) != `{"n":1}` {
		t.Errorf("row = %q, %q", row.Content, row.Structured)
	}
}

// An agent chooses long names: they are truncated and redacted.
func TestWriter_LimitsAndRedactsNames(t *testing.T) {
	t.Parallel()
	b := newWriterTest(t)
	for how, want := range map[connectors.CallHistory]string{
		connectors.HistoryNone: "db://u:[redacted]@h?token=[redacted]", connectors.HistoryRedacted: "db://u:[redacted]@h?token=[redacted]",
		connectors.HistoryFull: "db://u:hunter2@h?token=abc",
	} {
		b.tenant.CallHistory = how
		short, long := b.newCall(), b.newCall()
		short.Kind, short.Tool, short.ExposedName = connectors.CallResource, "db://u:hunter2@h?token=abc", "patchbay+x:db://u:hunter2@h?token=abc"
		long.Kind, long.Tool, long.ExposedName = connectors.CallResource, strings.Repeat("ä", 2<<20), strings.Repeat("b ", 2<<20)
		for _, c := range []connectors.ToolCall{short, long} {
			b.writer.Begin(b.tenant, c).End(succeedWith("[]"))
		}
		if row := b.findCall(t, short.ID); row.Tool != want || row.ExposedName != "patchbay+x:"+want {
			t.Errorf("%s: %s, %s", how, row.Tool, row.ExposedName)
		}
		if row := b.findCall(t, long.ID); len(row.Tool) > 3<<10 || len(row.ExposedName) > 3<<10 || !strings.HasSuffix(row.ExposedName, "b …") {
			t.Errorf("%s: %d and %d bytes", how, len(row.Tool), len(row.ExposedName))
		}
	}
}

func TestWriter_TruncatedContentIsJSON(t *testing.T) {
	t.Parallel()
	b := newWriterTest(t)
	e := b.writer.Begin(b.tenant, b.newCall())
	e.End(succeedWith(`[{"type":"text","text":"first"},{"type":"text","text":"` + strings.Repeat("ä\\n", 200_000) + `"},{"type":"text","text":"last"}]`))
	row := b.findCall(t, e.Call().ID)
	text := string(row.Content)
	if !row.Truncated || len(text) > connectors.MaxHistoryBytes || len(text) < connectors.MaxHistoryBytes/2 ||
		!strings.HasPrefix(text, `[{"type":"text","text":"first"},`) || !strings.HasSuffix(text, `"}]`) || strings.Contains(text, "last") {
		t.Errorf("truncated %v, %d bytes", row.Truncated, len(text))
	}
}

func TestWriter_DeletedAgentAffectsNoOtherCalls(t *testing.T) {
	t.Parallel()
	b := newWriterTest(t, func(o *calllog.Options) { o.Interval = time.Hour })
	gone, kept := b.newCall(), b.newCall()
	agent := b.Agent(t)
	gone.AgentID = &agent.ID
	for _, c := range []connectors.ToolCall{gone, kept} {
		b.writer.Begin(b.tenant, c).End(succeedWith("[]"))
	}
	deleted := b.newCall()
	b.writer.Begin(connectors.Tenant{ID: connectors.TenantID{UUID: uuid.New()}}, deleted).End(succeedWith("[]"))
	if err := b.Door().Agents().Delete(t.Context(), agent.ID); err != nil {
		t.Fatal(err)
	}
	if row := b.findCall(t, gone.ID); row.AgentID != nil || row.AgentSlug == "" {
		t.Errorf("row = %+v", row)
	}
	b.findCall(t, kept.ID)
}

// Deleting an agent with many calls takes long.
func TestWriter_LockedAgentDelaysNoOtherCalls(t *testing.T) {
	t.Parallel()
	b := newWriterTest(t, func(o *calllog.Options) { o.Interval = time.Hour })
	agent, to := b.Agent(t), b.Connector(t)
	theirs := func() connectors.ToolCall {
		c := b.newCall()
		c.AgentID, c.ConnectorID = &agent.ID, &to.ID
		return c
	}
	running, late, c, other := theirs(), theirs(), theirs(), b.newCall()
	began := b.writer.Begin(b.tenant, running)
	b.findCall(t, running.ID)
	tx, err := b.Pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(t.Context()) }()
	for _, statement := range []string{"select set_config('app.system', 'on', true)", "delete from agents where id = '" + agent.ID.String() + "'", "delete from connectors where id = '" + to.ID.String() + "'"} {
		if _, err := tx.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	began.End(succeedWith("[]"))
	begun := b.writer.Begin(b.tenant, late)
	b.writer.Begin(b.tenant, c).End(succeedWith("[]"))
	b.writer.Begin(b.tenant, other).End(succeedWith("[]"))
	if row := b.findCall(t, other.ID); row.Status != connectors.CallSuccess || row.AgentID == nil || row.ConnectorID == nil {
		t.Errorf("another agent's row = %+v", row)
	}
	if _, err := b.Door().Calls().Get(t.Context(), c.ID); !fault.Is(err, fault.NotFound) {
		t.Errorf("a row that names who is being deleted: %v", err)
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, id := range []connectors.ToolCallID{running.ID, late.ID, c.ID} {
		row := b.findCall(t, id)
		if row.AgentID != nil || row.ConnectorID != nil || row.AgentSlug == "" || row.ConnectorSlug == "" || row.Status.Ended() == (id == late.ID) {
			t.Errorf("row = %+v", row)
		}
	}
	begun.End(succeedWith("[]"))
	if row := b.findCall(t, late.ID); row.Status != connectors.CallSuccess {
		t.Errorf("row = %+v", row)
	}
}

func TestStop_WaitsForLockedCalls(t *testing.T) {
	t.Parallel()
	b := newWriterTest(t)
	tx, err := b.Pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(t.Context()) }()
	for _, statement := range []string{"select set_config('app.system', 'on', true)", "select from agents where id = '" + b.agent.ID.String() + "' for update"} {
		if _, err := tx.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	c, stopped := b.newCall(), make(chan struct{})
	b.writer.Begin(b.tenant, c).End(succeedWith("[]"))
	b.writer.Flush(t.Context())
	go func() {
		defer close(stopped)
		b.writer.Stop(context.Background())
	}()
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-stopped
	if row := b.findCall(t, c.ID); row.Status != connectors.CallSuccess || row.AgentID == nil {
		t.Errorf("row = %+v", row)
	}
}

func TestWriter_LaterDeletionClearsReferences(t *testing.T) {
	t.Parallel()
	b := newWriterTest(t)
	agent, to := b.Agent(t), b.Connector(t)
	c, other := b.newCall(), b.newCall()
	c.AgentID, c.ConnectorID = &agent.ID, &to.ID
	for _, c := range []connectors.ToolCall{c, other} {
		b.writer.Begin(b.tenant, c).End(succeedWith("[]"))
		b.findCall(t, c.ID)
	}
	if err := errors.Join(b.Door().Agents().Delete(t.Context(), agent.ID), b.Door().Connectors().Delete(t.Context(), to.ID)); err != nil {
		t.Fatal(err)
	}
	if row := b.findCall(t, c.ID); row.AgentID != nil || row.ConnectorID != nil {
		t.Errorf("row = %+v", row)
	}
	if row := b.findCall(t, other.ID); row.AgentID == nil || row.ConnectorID == nil {
		t.Errorf("the other row = %+v", row)
	}
	tx, err := b.Pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(t.Context()) }()
	for _, statement := range []string{"select set_config('app.system', 'on', true)", "delete from tenants where id = '" + b.Tenant.String() + "'"} {
		if _, err := tx.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := b.countCalls(t, "true"); n != 0 {
		t.Errorf("%d calls outlive their tenant", n)
	}
}

func TestWriter_InvalidRowAffectsNoOther(t *testing.T) {
	t.Parallel()
	b := newWriterTest(t, func(o *calllog.Options) { o.Interval = time.Hour })
	var kept []connectors.ToolCallID
	for i := range 20 {
		c := b.newCall()
		if i == 7 {
			c.Source = "nowhere" // violates a constraint
		} else {
			kept = append(kept, c.ID)
		}
		b.writer.Begin(b.tenant, c).End(succeedWith("[]"))
	}
	for _, id := range kept {
		b.findCall(t, id)
	}
}

func TestStop_WritesEverything(t *testing.T) {
	t.Parallel()
	b := newWriterTest(t, func(o *calllog.Options) { o.Interval = time.Hour })
	const n = 5000
	var calls sync.WaitGroup
	for range 50 {
		calls.Go(func() {
			for range n / 50 {
				b.writer.Begin(b.tenant, b.newCall()).End(succeedWith(`[]`))
			}
		})
	}
	calls.Wait()
	open := b.writer.Begin(b.tenant, b.newCall())
	b.writer.Stop(context.WithoutCancel(t.Context()))
	if got := b.countCalls(t, "status = 'success'"); got != n {
		t.Errorf("%d of %d calls match", got, n)
	}
	if row, err := b.Door().Calls().Get(t.Context(), open.Call().ID); err != nil || row.Status != connectors.CallRunning {
		t.Errorf("row = %+v, %v", row, err)
	}
}

// newCuttableStore is a store with a pool of its own that can be cut off.
func newCuttableStore(t *testing.T, b *writerTest) (*store.Store, *pgxpool.Pool) {
	t.Helper()
	pool, err := db.OpenPool(t.Context(), b.URL, db.PoolOptions{MaxConns: 2})
	if err != nil {
		t.Fatal(err)
	}
	st, err := store.Open(t.Context(), pool, b.KEK)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close(); pool.Close() })
	return st, pool
}

func TestWriter_OutageLosesNothing(t *testing.T) {
	t.Parallel()
	b := newWriterTest(t)
	st, pool := newCuttableStore(t, b)
	w := b.newWriter(t, st, func(o *calllog.Options) { o.Memory = 1000 })
	var held []*pgxpool.Conn
	for range 2 { // occupies all connections
		c, err := pool.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, c)
	}
	var ids []connectors.ToolCallID
	for range 100 {
		e := w.Begin(b.tenant, b.newCall())
		e.End(succeedWith(`["` + strings.Repeat("x", 100) + `"]`))
		ids = append(ids, e.Call().ID)
	}
	for _, c := range held {
		c.Release()
	}
	w.Flush(t.Context())
	cut := 0
	for _, id := range ids {
		row, err := b.Door().Calls().Get(t.Context(), id)
		if err != nil || row.Status != connectors.CallSuccess {
			t.Fatalf("row = %+v, %v", row, err)
		}
		if row.Truncated && row.Content == nil {
			cut++
		}
	}
	if cut == 0 || cut == len(ids) {
		t.Errorf("%d of %d contents were dropped", cut, len(ids))
	}
}

func TestEnd_BlocksWhenTooMuchWaits(t *testing.T) {
	t.Parallel()
	b := newWriterTest(t)
	st, pool := newCuttableStore(t, b)
	w := b.newWriter(t, st, func(o *calllog.Options) { o.Waiting = 3 })
	var held []*pgxpool.Conn
	for range 2 {
		c, err := pool.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, c)
	}
	for range 3 {
		w.Begin(b.tenant, b.newCall()).End(succeedWith("[]"))
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		w.Begin(b.tenant, b.newCall()).End(succeedWith("[]"))
	}()
	select {
	case <-ended:
		t.Error("it did not wait")
	case <-time.After(100 * time.Millisecond):
	}
	for _, c := range held {
		c.Release()
	}
	<-ended
}

func TestWriter_CallsOfADeadProcessAreClosed(t *testing.T) {
	t.Parallel()
	b := newWriterTest(t)
	dead := connectors.InstanceID{UUID: uuid.Must(uuid.NewV7())}
	w := b.newWriter(t, b.St, func(o *calllog.Options) { o.Instance = dead })
	e := w.Begin(b.tenant, b.newCall())
	w.Flush(t.Context())
	ended, err := b.St.System().Calls().SweepGateway(t.Context(), b.Instance)
	if err != nil || len(ended) != 1 || ended[0].ID != e.Call().ID {
		t.Fatalf("ended %v, %v", ended, err)
	}
	row := b.findCall(t, e.Call().ID)
	if row.Status != connectors.CallError || row.Outcome != connectors.OutcomeLost || row.CompletedAt == nil {
		t.Errorf("row = %+v", row)
	}
	e.End(succeedWith("[]")) // it was alive, so its end counts
	w.Flush(t.Context())
	if row := b.findCall(t, e.Call().ID); row.Status != connectors.CallSuccess {
		t.Errorf("row = %+v", row)
	}
}

func TestLive_SendsTheTenantsCalls(t *testing.T) {
	t.Parallel()
	b := newWriterTest(t)
	calls, stop := b.writer.Subscribe(b.Tenant)
	others, stopOthers := b.writer.Subscribe(b.Other)
	defer stopOthers()
	e := b.writer.Begin(b.tenant, b.newCall())
	e.End(succeedWith("[]"))
	if c := <-calls; c.Status != connectors.CallRunning {
		t.Errorf("begun: %+v", c)
	}
	if c := <-calls; c.Status != connectors.CallSuccess {
		t.Errorf("ended: %+v", c)
	}
	stop()
	b.writer.Begin(b.tenant, b.newCall())
	if len(calls) > 0 || len(others) > 0 {
		t.Error("somebody heard what is not theirs")
	}
}

func TestStop_GivesUpAtItsDeadline(t *testing.T) {
	t.Parallel()
	b := newWriterTest(t)
	st, pool := newCuttableStore(t, b)
	w := b.newWriter(t, st)
	pool.Close()
	w.Begin(b.tenant, b.newCall()).End(succeedWith("[]"))
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, errors.New("enough"))
	defer cancel()
	w.Stop(ctx)
}

func TestWriter_LimitsLongContents(t *testing.T) {
	t.Parallel()
	b := newWriterTest(t, func(o *calllog.Options) { o.Rate = 50_000 })
	long, short := `["`+strings.Repeat("x ", 20_000)+`"]`, `["short"]`
	kept := 0
	for range 10 {
		e := b.writer.Begin(b.tenant, b.newCall())
		e.End(succeedWith(long))
		row := b.findCall(t, e.Call().ID)
		if row.Content != nil {
			kept++
		} else if !row.Truncated || row.Arguments == nil || row.ResponseBytes != int64(len(long)) {
			t.Errorf("row = %+v", row)
		}
		e = b.writer.Begin(b.tenant, b.newCall())
		e.End(succeedWith(short))
		if row := b.findCall(t, e.Call().ID); string(row.Content) != short {
			t.Errorf("short content: %s", row.Content)
		}
	}
	if kept < 2 || kept == 10 {
		t.Errorf("%d of 10 are kept", kept)
	}
}
