package calllog_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"patchbay/internal/calllog"
	"patchbay/internal/connectors"
	"patchbay/internal/safe"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
	"patchbay/internal/testing/paniclog"
)

// Each statement panics: its calls are lost, and nothing waits for them.
func TestWriter_StorePanics(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	w := calllog.New(calllog.Options{
		Store: new(store.Store), Interval: time.Millisecond, Waiting: 1, Log: slog.New(slog.NewTextHandler(&log, nil)),
	})
	b := &writerTest{writer: w}
	b.connector.ID = connectors.ConnectorID{UUID: b.newCall().ID.UUID}
	for range 3 { // the second call waits until the first is given up
		w.Begin(b.tenant, b.newCall()).End(succeedWith("[]"))
	}
	open := w.Begin(b.tenant, b.newCall())
	w.Flush(t.Context())
	open.End(succeedWith("[]"))
	w.Flush(t.Context())
	w.Stop(t.Context())
	if t.Context().Err() != nil {
		t.Error("a call that was lost is waited for")
	}
	if n := strings.Count(log.String(), "call not written to the history"); n < 4 {
		t.Errorf("%d of 4 lost calls are logged: %s", n, log.String())
	}
}

func TestWriter_BatchPanicsBeforeItIsTaken(t *testing.T) {
	t.Parallel()
	var panics atomic.Int32
	panics.Store(1)
	b := newWriterTest(t, func(o *calllog.Options) {
		o.Now = func() time.Time {
			if panics.Add(-1) == 0 {
				panic("of a test")
			}
			return time.Now()
		}
	})
	e := b.writer.Begin(b.tenant, b.newCall())
	e.End(succeedWith("[]"))
	if row := b.findCall(t, e.Call().ID); row.Status != connectors.CallSuccess {
		t.Errorf("row = %+v", row)
	}
}

// A call can be ended again after its end panicked.
func TestEntry_ChangeOfItsEndPanics(t *testing.T) {
	t.Parallel()
	b := newWriterTest(t)
	e := b.writer.Begin(b.tenant, b.newCall())
	func() {
		defer func() { _ = recover() }()
		e.End(func(*connectors.ToolCall) { panic("of a test") })
	}()
	e.End(succeedWith("[]"))
	if row := b.findCall(t, e.Call().ID); row.Status != connectors.CallSuccess {
		t.Errorf("row = %+v", row)
	}
}

// The loop panics that records the calls of killed processes.
func TestRunRecovery_PanicLosesNoCalls(t *testing.T) {
	t.Parallel()
	panics := paniclog.Start()
	b := newWriterTest(t)
	dir := b.killProcess(t)
	w := b.newWriter(t, b.St, func(o *calllog.Options) { o.Journal, o.Instance = dir, fixture.NewInstance() })
	waitForPanic := b.PanicBelow(t, "(*Writer).endLostOnce", 1)
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan struct{})
	go func() { defer close(over); safe.RunLoop(ctx, "journals", w.RunRecovery) }()
	waitForPanic()
	for b.countCalls(t, lostCondition) != 20 {
		select {
		case <-time.After(10 * time.Millisecond):
		case <-t.Context().Done():
			t.Fatal("the calls are not on record")
		}
	}
	cancel()
	<-over
	panics.Want(t, safe.Background, "(*Writer).endLostOnce")
}
