package store_test

import (
	"context"
	"log/slog"
	"os"
	"testing"
	"time"

	"patchbay/db"
	"patchbay/internal/connectors"
	"patchbay/internal/postgres"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

// aloneWorld is a world on its own server, without other writers. Its WAL is like a real server's, except for
// full page images, which come once per page and checkpoint.
func aloneWorld(t *testing.T) *fixture.World {
	t.Helper()
	dir, err := os.MkdirTemp("", "patchbay-wal-") // not the test's: its name is too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	cluster, err := postgres.Start(t.Context(), postgres.Options{
		Dir: dir, Throwaway: true, Settings: map[string]string{"wal_level": "replica", "max_wal_size": "4GB"},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
		defer cancel()
		if err := cluster.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	if err := db.Migrate(t.Context(), cluster.URL(), slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	return fixture.On(t, cluster.URL())
}

func TestASyncWithNothingNewWritesLittle(t *testing.T) {
	t.Parallel()
	w := aloneWorld(t)
	const many, rounds = 128, 6
	for range many {
		w.Synced(t, w.Connector(t).ID, "search")
	}
	written := func() (n int64) {
		t.Helper()
		if err := w.Pool.QueryRow(t.Context(), "select (pg_current_wal_insert_lsn() - '0/0')::bigint").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	var claimed, ended int64
	for round := range rounds {
		w.MakeDue(t)
		before := written()
		var claims []store.Claim
		for len(claims) < many {
			more, err := w.St.System().Syncs().ClaimDue(t.Context(), w.Instance, allShards(), many, 100)
			if err != nil || len(more) == 0 {
				t.Fatalf("claimed %d, %v", len(more), err)
			}
			claims = append(claims, more...)
		}
		between := written()
		unchanged(t, w, claims[:many/2], "search")
		unchanged(t, w, claims[many/2:], "search")
		if round >= 2 { // the first has runs to write, and the pages are filled by then
			claimed, ended = claimed+between-before, ended+written()-between
		}
	}
	perSync := (claimed + ended) / (many * (rounds - 2))
	t.Logf("bytes of the log for one sync: %d; the claim %d, the end %d", perSync, claimed/(many*(rounds-2)), ended/(many*(rounds-2)))
	if perSync > 614 { // 0.6 KiB
		t.Errorf("a sync with nothing new writes %d bytes", perSync)
	}
	if runs := runsOf(t, w, toConnector(t, w)); len(runs) != 2 || runs[0].Repeats != rounds-1 {
		t.Errorf("runs = %+v", runs)
	}
}

// toConnector is any connector of the world.
func toConnector(t *testing.T, w *fixture.World) connectors.ConnectorID {
	t.Helper()
	list, err := w.Door().Connectors().List(t.Context(), store.ConnectorFilter{})
	if err != nil || len(list.Items) == 0 {
		t.Fatal("no connector", err)
	}
	return list.Items[0].ID
}
