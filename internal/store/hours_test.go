package store_test

import (
	"context"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

var hourAttempts = map[string]attempt{
	"Calls.MarkUsage": func(ctx context.Context, o outsider) (bool, error) {
		if err := o.door.Calls().MarkUsage(ctx, time.Now()); err != nil {
			return true, err
		}
		f, err := o.Door().Calls().Figures(ctx, time.Now().Add(-time.Hour))
		return f.Since != nil, err
	},
	"Calls.Figures": func(ctx context.Context, o outsider) (bool, error) {
		f, err := o.door.Calls().Figures(ctx, time.Time{})
		return len(f.Calls)+len(f.Syncs)+len(f.Connectors) > 0, err
	},
	"Badges": func(ctx context.Context, o outsider) (bool, error) {
		b, err := o.door.Badges(ctx)
		return b.Total() > 0, err
	},
	"UpdateBadges": func(ctx context.Context, o outsider) (bool, error) {
		var b store.BadgeCounts
		err := o.door.UpdateBadges(ctx, &b)
		return b.Total() > 0, err
	},
	"Lists.AttentionItems": func(ctx context.Context, o outsider) (bool, error) {
		n, err := o.door.Lists().AttentionItems(ctx, 100)
		return len(n.List) > 0, err
	},
}

// ownHours are the methods that show the outsider's own rows.
var ownHours = map[string]bool{"Calls.MarkUsage": true, "Calls.Figures": true, "Lists.AttentionItems": true, "Badges": true, "UpdateBadges": true}

func run(t *testing.T, w *fixture.World, sql string, args ...any) {
	t.Helper()
	if err := asSystem(t.Context(), w.Pool, sql, args); err != nil {
		t.Fatal(err)
	}
}

func TestFigures_SyncsSumUpConnectorHours(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	hour := time.Now().UTC().Truncate(time.Hour).Add(-3 * time.Hour)
	for range 3 {
		c := w.Connector(t)
		run(t, w, "insert into connector_health (tenant_id, connector_id, hour, ok, failed, ms_sum, ms_max) values ($1, $2, $3, 4, 1, 0, 0)",
			w.Tenant, c.ID, hour)
		run(t, w, "update connector_clock set hour = $2, hour_ok = 1 where connector_id = $1", c.ID, hour.Add(2*time.Hour))
	}
	want := func(when string) {
		t.Helper()
		f, err := w.Door().Calls().Figures(t.Context(), hour)
		if err != nil {
			t.Fatal(err)
		}
		if len(f.Syncs) != 2 || f.Syncs[0].Hour != hour || f.Syncs[0].OK != 12 || f.Syncs[0].Failed != 3 || f.Syncs[1].OK != 3 {
			t.Errorf("%s: %+v", when, f.Syncs)
		}
	}
	want("before")
	for _, when := range []string{"after", "after another time"} {
		if _, err := w.St.System().Calls().SweepGateway(t.Context(), w.Instance); err != nil {
			t.Fatal(err)
		}
		want(when)
	}
	late := w.Connector(t) // one that is asked seldom has its hour put aside later
	run(t, w, "insert into connector_health (tenant_id, connector_id, hour, ok, failed, ms_sum, ms_max) values ($1, $2, $3, 1, 0, 0, 0)",
		w.Tenant, late.ID, hour.Add(-time.Hour))
	if _, err := w.St.System().Calls().SweepGateway(t.Context(), w.Instance); err != nil {
		t.Fatal(err)
	}
	want("with one more before them")
}

func TestFigures_BucketsMatchDatabase(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	for _, us := range []int64{0, 1, 125, 126, 148, 149, 250, 999, 1000, 12_345, 1_000_000, 109_000_000, 10_000_000_000} {
		var got int
		if err := w.Pool.QueryRow(t.Context(), "select latency_bucket($1)", us).Scan(&got); err != nil {
			t.Fatal(err)
		}
		if want := connectors.LatencyBucket(time.Duration(us) * time.Microsecond); got != want {
			t.Errorf("%d µs is in bucket %d of the database and %d of the program", us, got, want)
		}
	}
}

func TestHowManyToolsThereWereIsKnownByTheHour(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c := w.Connector(t)
	w.Synced(t, c.ID, "a", "b", "c")
	hour := time.Now().UTC().Truncate(time.Hour).Add(-time.Hour)
	run(t, w, "insert into connector_health (tenant_id, connector_id, hour, ok, failed, ms_sum, ms_max) values ($1, $2, $3, 1, 0, 0, 0)", w.Tenant, c.ID, hour)
	if _, err := w.St.System().Calls().SweepGateway(t.Context(), w.Instance); err != nil {
		t.Fatal(err)
	}
	run(t, w, "update connectors set tool_count = 5 where id = $1", c.ID)
	f, err := w.Door().Calls().Figures(t.Context(), hour)
	if err != nil {
		t.Fatal(err)
	}
	if f.Syncs[0].Tools != 3 || f.Syncs[len(f.Syncs)-1].Tools != -1 || f.Tools != 5 || f.Connectors[connectors.StatusOK] != 1 {
		t.Errorf("%+v", f)
	}
}
