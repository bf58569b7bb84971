package calllog_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/calllog"
	"patchbay/internal/connectors"
)

// Calls of one batch share some texts and nothing else.
func TestBatch_CallsKeepTheirOwnTexts(t *testing.T) {
	t.Parallel()
	b := newWriterTest(t, func(o *calllog.Options) { o.Interval = time.Hour })
	hash := connectors.Hash{1, 2, 3}
	type words struct {
		Tool, Exposed, Caller, Code, Message, Arguments, Content string
		Status                                                   connectors.CallStatus
		Agent, Defined, Truncated                                bool
	}
	want, got := map[connectors.ToolCallID]words{}, map[connectors.ToolCallID]words{}
	for i := range 60 {
		c := b.newCall()
		c.Tool, c.ExposedName, c.Caller = fmt.Sprint("tool", i%7), fmt.Sprint("mcp_x__tool", i%7), fmt.Sprint("somebody", i%2)
		c.Arguments = fmt.Appendf(nil, `{"n":%d}`, i)
		if i%5 == 0 {
			c.AgentID = nil
		}
		if i%3 == 0 {
			c.Definition = &hash
		}
		e := b.writer.Begin(b.tenant, c)
		w := words{Tool: c.Tool, Exposed: c.ExposedName, Caller: c.Caller, Arguments: string(c.Arguments), Status: c.Status, Agent: c.AgentID != nil, Defined: c.Definition != nil}
		if i%4 > 0 { // the others continue
			ended := e.End(func(c *connectors.ToolCall) {
				succeedWith(fmt.Sprintf(`["%d"]`, i))(c)
				if i%4 == 1 {
					c.Status, c.Outcome, c.ErrorCode, c.ErrorMessage = connectors.CallError, connectors.OutcomeTransport, "timeout", fmt.Sprint("It took too long: ", i)
				}
				c.Truncated = i%4 == 2
			})
			w.Status, w.Code, w.Message, w.Content, w.Truncated = ended.Status, ended.ErrorCode, ended.ErrorMessage, string(ended.Content), ended.Truncated
		}
		want[c.ID] = w
	}
	for id := range want {
		c := b.findCall(t, id)
		got[id] = words{
			Tool: c.Tool, Exposed: c.ExposedName, Caller: c.Caller, Code: c.ErrorCode, Message: c.ErrorMessage, Arguments: string(c.Arguments),
			Content: string(c.Content), Status: c.Status, Agent: c.AgentID != nil, Defined: c.Definition != nil, Truncated: c.Truncated,
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Most calls take milliseconds. The beginning of a longer one comes with a later batch.
func TestBatch_WritesTheBeginningOfALongCall(t *testing.T) {
	t.Parallel()
	start := time.Now()
	var later atomic.Int64
	b := newWriterTest(t, func(o *calllog.Options) {
		o.Interval = 20 * time.Millisecond
		o.Now = func() time.Time { return start.Add(time.Duration(later.Load())) }
	})
	ends, young, old := b.newCall(), b.newCall(), b.newCall()
	ends.StartedAt, young.StartedAt, old.StartedAt = start, start, start.Add(-5*time.Millisecond)
	soon := b.writer.Begin(b.tenant, ends)
	b.writer.Begin(b.tenant, young)
	b.writer.Begin(b.tenant, old)
	wait := func(id connectors.ToolCallID) {
		for b.countCalls(t, "id = '"+id.String()+"'") == 0 {
			if t.Context().Err() != nil {
				t.Fatal("it is not written")
			}
		}
	}
	wait(old.ID)
	if n := b.countCalls(t, "true"); n != 1 {
		t.Errorf("the beginnings of %d calls are written", n)
	}
	soon.End(succeedWith("[]"))
	wait(ends.ID)
	if n := b.countCalls(t, "id = '"+young.ID.String()+"'"); n != 0 {
		t.Error("the beginning is written with another call's end")
	}
	later.Store(int64(5 * time.Millisecond))
	wait(young.ID)
	if n := b.countCalls(t, "status = 'running'"); n != 2 {
		t.Errorf("%d calls go on", n)
	}
}

func TestBatch_AnEndIsOneStatement(t *testing.T) {
	t.Parallel()
	b := newWriterTest(t, func(o *calllog.Options) { o.Interval = time.Hour })
	open, waited := b.writer.Begin(b.tenant, b.newCall()), b.newCall()
	b.writer.Begin(b.tenant, waited)
	b.writer.Flush(t.Context())
	waited.ApprovedBy = "somebody"
	for what, begin := range map[string]func() *calllog.Entry{
		"its beginning is written": func() *calllog.Entry { return open },
		"nothing is":               func() *calllog.Entry { return b.writer.Begin(b.tenant, b.newCall()) },
		"it waited for approval":   func() *calllog.Entry { return b.writer.Begin(b.tenant, waited) },
	} {
		before := b.Queries()
		begin().End(succeedWith("[]"))
		b.writer.Flush(t.Context())
		if n := b.Queries() - before; n != 1 {
			t.Errorf("%s: %d statements", what, n)
		}
	}
	if n := b.countCalls(t, "status = 'success'"); n != 3 {
		t.Errorf("%d calls have ended", n)
	}
}
