package e2e_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
)

// TestSeveralProcessesGoOnWithAnotherPostgreSQL has the primary's machine fail while all of three processes have syncs under way, and
// promotes its standby, which has all that was stored. Nobody restarts anything. What the servers have answered meanwhile is stored there
// without being asked for again, and each process takes what is due afterwards.
func TestSeveralProcessesGoOnWithAnotherPostgreSQL(t *testing.T) {
	t.Parallel()
	const connectors = 60
	h := newHome(t)
	machine := filepath.Join(h.dir, "a")
	primary := startCluster(t, machine)
	standby := h.standby(primary, filepath.Join(h.dir, "b"))
	owner := &ownersEye{t: t, url: primary.URL()}
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
	f.crowd.goOn()
	promote(t, standby)
	owner.url = standby.URL()
	for _, m := range f.members {
		eventually(t, func() error { return m.readyz(http.StatusOK) })
	}
	f.synced()

	f.crowd.holdAgain()
	engaged := f.engage(connectors)
	f.due(f.names[engaged:])
	f.crowd.goOn()
	eventually(t, func() error {
		if lists := f.crowd.listed(); lists != 2*connectors {
			return fmt.Errorf("%d lists were asked for after the failover", lists-connectors)
		}
		return owner.agrees(map[string]int{"select count(*) from connector_clock where claimed_by is null and due_at > now() and failures = 0": connectors})
	})
	f.ends()
}
