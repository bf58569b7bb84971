//go:build e2e

package e2e_test

import (
	"testing"

	"patchbay/internal/testing/pgtest"
)

// TestWhatIsDueIsSyncedBehindPgBouncer has two processes sync what is due with all that they say to the database going through five
// sessions, each transaction in any of them; with a way past it for what needs a session of its own, and without. While syncs are under way
// PgBouncer is killed and comes back, and so is the process that has the most of them: the other one takes these, too.
func TestWhatIsDueIsSyncedBehindPgBouncer(t *testing.T) {
	t.Parallel()
	for name, past := range map[string]bool{"with a way past it": true, "with none": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			database := pgtest.URL(t)
			bouncer := pgtest.StartBouncer(t, pgtest.Pooled(t, database), 5)
			h := newHome(t)
			h.env = append(h.env, "PATCHBAY_KEYSET="+h.run("keys", "new"), "DATABASE_URL="+bouncer.URL)
			if past {
				h.env = append(h.env, "PATCHBAY_DATABASE_DIRECT_URL="+database)
			}
			f := newFleet(t, h, &ownerConnection{t: t, url: database}, 2)
			f.join()
			f.join()
			f.fill(40)
			f.syncHalf(0)
			f.killBusiest()
			f.pool.releaseAll() // so that ends are on their way
			bouncer.Restart(t)
			f.synced()
			f.ends()
		})
	}
}
