package history_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/history"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

// dying is set in the process that TestAKilledProcessLeavesItsBeginnings kills: the folder of its journal.
const dying = "PATCHBAY_TEST_JOURNAL"

func TestAKilledProcessLeavesItsBeginnings(t *testing.T) {
	t.Parallel()
	dir := os.Getenv(dying)
	if dir != "" {
		die(t, dir)
	}
	b := newBench(t)
	dir = t.TempDir()
	program := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestAKilledProcessLeavesItsBeginnings$")
	program.Env = append(os.Environ(), dying+"="+dir, "PATCHBAY_TEST_TENANT="+b.Tenant.String())
	if out, err := program.CombinedOutput(); err == nil {
		t.Fatalf("it was not killed: %s", out)
	}
	b.wantJournals(t, dir, 1)
	living := b.newWriter(t, b.St, func(o *history.Options) { o.Journal, o.Instance = dir, fixture.NewInstance() })
	living.Recover(t.Context())
	b.wantJournals(t, dir, 1) // its own
	if n := b.count(t, "status = 'error' and outcome = 'lost' and tool = 'search' and agent_slug = 'killed' and address = '2001:db8::9' and request_id like 'request-__'"); n != 20 {
		t.Errorf("%d beginnings are on record, with where they came from", n)
	}
	living.Stop(context.WithoutCancel(t.Context()))
	b.wantJournals(t, dir, 0)
}

// die begins calls, ends some of them, and is killed before the first batch.
func die(t *testing.T, dir string) {
	t.Helper()
	w := history.New(history.Options{Store: &store.Store{}, Instance: fixture.NewInstance(), Interval: time.Hour, Journal: dir})
	var b bench
	tenant := connectors.Tenant{CallHistory: connectors.HistoryFull}
	if err := tenant.ID.UnmarshalText([]byte(os.Getenv("PATCHBAY_TEST_TENANT"))); err != nil {
		t.Fatal(err)
	}
	b.agent.Slug, b.to.Slug = "killed", "connector"
	for i := range 20 {
		c := b.call()
		c.CallOrigin = connectors.CallOriginOf("2001:db8::9", fmt.Sprintf("request-%02d", i))
		e := w.Begin(tenant, c)
		if i%2 == 0 {
			e.End(succeeds("[]"))
		}
	}
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	t.Fatal(err)
}

func TestWhatIsWrittenIsNotInTheJournalAnyMore(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	dir := t.TempDir()
	w := b.newWriter(t, b.St, func(o *history.Options) { o.Journal = dir })
	for range 3 {
		w.Begin(b.tenant, b.call())
		w.Begin(b.tenant, b.call()).End(succeeds("[]"))
		w.Written(t.Context())
	}
	b.wantJournals(t, dir, 1)
	other := b.newWriter(t, b.St, func(o *history.Options) { o.Journal, o.Instance = dir, fixture.NewInstance() })
	other.Recover(t.Context())
	b.wantJournals(t, dir, 2) // a living process's stays
	copied, err := os.ReadFile(filepath.Join(dir, "calls-"+b.Instance.String()))
	if err != nil {
		t.Fatal(err)
	}
	for at := 0; at < len(copied); at += 2 << 10 {
		if copied[at] != 0 {
			t.Fatalf("slot %d holds a call", at/(2<<10))
		}
	}
}

func (b *bench) wantJournals(t testing.TB, dir string, want int) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "calls-*"))
	if err != nil || len(found) != want {
		t.Errorf("%d journals, want %d (%v)", len(found), want, err)
	}
}
