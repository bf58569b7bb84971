package retention_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"patchbay/internal/connectors"
	"patchbay/internal/retention"
	"patchbay/internal/testing/fixture"
)

// sweptRows counts the rows that sweeps report.
type sweptRows struct {
	mu   sync.Mutex
	rows map[connectors.HistoryPart]int // guarded by mu
}

func (c *sweptRows) add(part connectors.HistoryPart, rows int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.rows == nil {
		c.rows = map[connectors.HistoryPart]int{}
	}
	c.rows[part] += rows
}

// sweepAll sweeps until nothing is left, with calls whose time is over at once.
func sweepAll(ctx context.Context, s *retention.Sweeper) error {
	var at retention.Place
	for {
		next, err := s.Sweep(ctx, at, 0)
		if err != nil || !next.Open() {
			return err
		}
		if cmp.Equal(at, next) {
			return errors.New("a spell got nowhere")
		}
		at = next
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestSweep_EachTenantKeepsItsOwnDays(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	mine, theirs := w.Connector(t), w.ConnectorIn(t, w.Other)
	for _, c := range []connectors.Connector{mine, theirs} {
		w.OldCalls(t, c, "search", 200, 10)
		w.OldCalls(t, c, "search", 50, 20)
		w.OldCalls(t, c, "search", 1, 40)
	}
	must(t, w.Door().SetHistoryDays(t.Context(), 30))
	var count sweptRows
	must(t, sweepAll(t.Context(), retention.New(retention.Options{Store: w.St, Batch: 7, Swept: count.add})))
	var left, leftTheirs int
	w.AsSystem(t, "select count(*) filter (where tenant_id = $1), count(*) filter (where tenant_id = $2) from tool_calls", []any{w.Tenant, w.Other}, &left, &leftTheirs)
	if left != 40 || leftTheirs != 60 || count.rows[connectors.PartCalls] != 40 {
		t.Errorf("%d and %d are left; %v", left, leftTheirs, count.rows)
	}
}

func TestSweep_InstallationLimitsTenants(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := w.Connector(t)
	w.OldCalls(t, c, "search", 50, 5)
	must(t, w.Door().SetHistoryDays(t.Context(), 90)) // then the operator shortens it
	must(t, sweepAll(t.Context(), retention.New(retention.Options{Store: w.St, Days: 40})))
	if n := w.Count(t, "tool_calls"); n != 0 {
		t.Errorf("%d are left", n)
	}
}

func TestSweep_ProcessesShareTheWork(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	for range 2 {
		c := w.Connector(t)
		w.OldCalls(t, c, "search", 100, 500)
		w.OldCalls(t, c, "search", 10, 100)
		for range 5 {
			w.Synced(t, c.ID)
		}
	}
	w.Backdate(t, 100)
	var count sweptRows
	var processes errgroup.Group
	for range 4 {
		s := retention.New(retention.Options{Store: w.St, Batch: 20, Swept: count.add})
		processes.Go(func() error { return sweepAll(t.Context(), s) })
	}
	must(t, processes.Wait())
	must(t, sweepAll(t.Context(), retention.New(retention.Options{Store: w.St, Batch: 20, Swept: count.add}))) // rows that each left to another
	if calls, runs := w.Count(t, "tool_calls"), w.Count(t, "sync_runs"); calls != 200 || runs != 2 {
		t.Errorf("%d calls and %d runs are left", calls, runs)
	}
	want := map[connectors.HistoryPart]int{connectors.PartCalls: 1000, connectors.PartRuns: 8}
	if diff := cmp.Diff(want, count.rows); diff != "" {
		t.Errorf("what was counted is not what went (-want +have):\n%s", diff)
	}
}

func TestSweep_ContinuesAfterAKilledSweep(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := w.Connector(t)
	w.OldCalls(t, c, "search", 100, 100)
	w.OldCalls(t, c, "search", 10, 10)
	ctx, kill := context.WithCancel(t.Context())
	var count sweptRows
	s := retention.New(retention.Options{Store: w.St, Batch: 10, Swept: func(part connectors.HistoryPart, rows int) {
		if count.add(part, rows); count.rows[part] == 50 {
			kill()
		}
	}})
	if _, err := s.Sweep(ctx, retention.Place{}, time.Hour); err == nil {
		t.Error("the sweep says that it is through")
	}
	if n := w.Count(t, "tool_calls"); n != 60 {
		t.Errorf("%d calls are left half-way", n)
	}
	must(t, sweepAll(t.Context(), retention.New(retention.Options{Store: w.St, Batch: 10})))
	if n := w.Count(t, "tool_calls"); n != 10 {
		t.Errorf("%d calls are left at the end", n)
	}
}

func TestSweep_ReportsEachRowOnce(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	w.OldCalls(t, w.Connector(t), "search", 100, 3)
	var out strings.Builder
	s := retention.New(retention.Options{Store: w.St, Log: slog.New(slog.NewTextHandler(&out, nil))})
	for range 2 {
		must(t, sweepAll(t.Context(), s))
	}
	if n := strings.Count(out.String(), "old history swept"); n != 1 || !strings.Contains(out.String(), "tool_calls=3") {
		t.Errorf("log: %s", out.String())
	}
}

func TestSweep_NothingOldCostsFewStatements(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	for range 30 {
		w.Synced(t, w.Connector(t).ID, "a", "b")
	}
	s := retention.New(retention.Options{Store: w.St})
	before := w.Queries()
	_, err := s.Sweep(t.Context(), retention.Place{}, time.Hour)
	must(t, err)
	if n := w.Queries() - before; n != 1+2*6 { // one for tenants, one for each part
		t.Errorf("%d statements for two tenants", n)
	}
}
