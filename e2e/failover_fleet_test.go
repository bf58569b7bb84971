//go:build e2e

package e2e_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
)

// TestSeveralProcessesGoOnWithAnotherPostgreSQL stops the primary's machine during syncs of three processes,
// and promotes its synchronous standby, without restarting a process. Lists that servers sent meanwhile are
// stored there without another request, and due syncs go on.
func TestSeveralProcessesGoOnWithAnotherPostgreSQL(t *testing.T) {
	t.Parallel()
	const connectors = 60
	h := newHome(t)
	machine := filepath.Join(h.dir, "a")
	primary := startCluster(t, machine)
	standby := h.standby(primary, filepath.Join(h.dir, "b"))
	owner := &ownerConnection{t: t, url: primary.URL()}
	owner.waitsForStandby()
	h.env = append(h.env, "PATCHBAY_KEYSET="+h.run("keys", "new"), "DATABASE_URL="+bothOf(t, primary.URL(), standby.URL()))
	h.run("migrate")
	f := newFleet(t, h, owner, 2)
	for range 3 {
		f.join()
	}
	f.fill(connectors)
	f.syncHalf(f.engage(connectors / 2))

	if err := os.Rename(machine, machine+"-failed"); err != nil { // so that nothing starts there again
		t.Fatal(err)
	}
	killPostmaster(t, filepath.Join(machine+"-failed", "postgres", "data"))
	for _, m := range f.members {
		eventually(t, func() error { return m.readyz(http.StatusServiceUnavailable) })
	}
	f.pool.releaseAll()
	promote(t, standby)
	owner.url = standby.URL()
	for _, m := range f.members {
		eventually(t, func() error { return m.readyz(http.StatusOK) })
	}
	f.synced()

	f.pool.holdLists()
	engaged := f.engage(connectors)
	f.due(f.names[engaged:])
	f.pool.releaseAll()
	eventually(t, func() error {
		if lists := f.pool.countLists(); lists != 2*connectors {
			return fmt.Errorf("%d lists were asked for after the failover", lists-connectors)
		}
		return owner.agrees(map[string]int{"select count(*) from connector_clock where claimed_by is null and due_at > now() and failures = 0": connectors})
	})
	f.ends()
}
