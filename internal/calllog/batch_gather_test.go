package calllog

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"patchbay/internal/connectors"
)

func newGatheringWriter() *Writer {
	return &Writer{o: Options{Interval: time.Hour}, full: make(chan struct{}, 1), stopping: make(chan struct{})}
}

func TestBatch_WaitsForAnIntervalUnlessFull(t *testing.T) {
	t.Parallel()
	large := &Entry{call: connectors.ToolCall{Content: make([]byte, maxBytes)}}
	for name, c := range map[string]struct {
		change func(w *Writer)
		want   time.Duration
	}{
		"told of the batch before": {func(*Writer) {}, time.Hour},
		"one row too few":          {func(w *Writer) { w.ended = make([]*Entry, maxRows-1) }, time.Hour},
		"enough rows":              {func(w *Writer) { w.ended = make([]*Entry, maxRows) }, 0},
		"enough bytes":             {func(w *Writer) { w.ended, w.memory = []*Entry{large}, large.contentBytes() }, 0},
		"somebody waits":           {func(w *Writer) { w.writeRequested = true }, 0},
		"the last one":             {func(w *Writer) { close(w.stopping) }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w, began := newGatheringWriter(), time.Now()
				c.change(w)
				notify(w.full)
				w.waitForBatch()
				if took := time.Since(began); took != c.want {
					t.Errorf("gathered for %s", took)
				}
			})
		})
	}
}

func TestBatch_StartsWhenFull(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, began := newGatheringWriter(), time.Now()
		notify(w.full) // of the previous batch
		var over sync.WaitGroup
		over.Go(w.waitForBatch)
		time.Sleep(time.Minute)
		w.mu.Lock()
		w.ended = make([]*Entry, maxRows)
		w.mu.Unlock()
		notify(w.full)
		over.Wait()
		if took := time.Since(began); took != time.Minute {
			t.Errorf("gathered for %s", took)
		}
	})
}

func TestBatch_MayBeOverfilledByAQuarter(t *testing.T) {
	t.Parallel()
	small, large := &Entry{}, &Entry{call: connectors.ToolCall{Content: make([]byte, maxBytes/10)}}
	for _, c := range []struct {
		of   *Entry
		n    int
		want int
	}{{small, 12, 12}, {small, maxRows + 12, maxRows + 12}, {small, 3 * maxRows, maxRows + maxRows/overfillPart}, {large, 11, 11}, {large, 30, 12}} {
		all := make([]*Entry, c.n)
		for i := range all {
			all[i] = c.of
		}
		if n := countForStatement(all); n != c.want {
			t.Errorf("%d of %d calls of %d bytes", n, c.n, c.of.contentBytes())
		}
	}
}
