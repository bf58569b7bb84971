//go:build e2e

package e2e_test

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"patchbay/internal/postgres"
)

// servers is how many hosts the connectors' servers are spread over. A process talks to one in sixteen conversations at once.
const servers = 6

// TestWhatIsDueIsSyncedThroughDeathsAndRestarts has many connectors of several tenants due in three processes. When each process has
// some of them under way, and half are synced, the one that has the most is killed, and PostgreSQL with it; both come back. Each
// connector is synced, none is left running, and none was ever synced twice at once, as their servers saw it. How many there are
// PATCHBAY_TEST_DUE may say.
func TestWhatIsDueIsSyncedThroughDeathsAndRestarts(t *testing.T) {
	t.Parallel()
	due := dueConnectors(t)
	h := newHome(t)
	cluster, err := postgres.Start(t.Context(), postgres.Options{Dir: filepath.Join(h.dir, "pg"), Throwaway: true, Settings: map[string]string{
		"synchronous_commit": "on", // what was said to be stored is, also after a kill
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stopCluster(t, cluster) })
	h.env = append(h.env, "PATCHBAY_KEYSET="+h.run("keys", "new"), "DATABASE_URL="+cluster.URL())
	h.run("migrate")
	owner := &ownerConnection{t: t, url: cluster.URL()}
	f := newFleet(t, h, owner, servers)
	for range 3 {
		f.join()
	}
	f.fill(due)

	engaged := f.engage(due / 2)
	began := time.Now()
	f.syncHalf(engaged)
	cut := f.killBusiest()
	owner.killPostgreSQL()
	f.pool.releaseAll()
	eventually(t, func() error { return owner.agrees(nil) })
	f.join()

	f.synced()
	took := time.Since(began).Round(time.Millisecond)
	if took > 2*time.Minute {
		t.Errorf("the last was synced after %s", took)
	}
	t.Logf("%d connectors were synced %s after they were due; %d syncs were under way in the process that was killed, %d connectors had been due before",
		due, took, cut, engaged)
	f.ends()
}

// dueConnectors is how many connectors the test has, at least the usual sixty.
func dueConnectors(t *testing.T) int {
	t.Helper()
	text := os.Getenv("PATCHBAY_TEST_DUE")
	if text == "" {
		return 60
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 60 {
		t.Fatalf("PATCHBAY_TEST_DUE is %q, no number from 60 on", text)
	}
	return n
}
