package toolsync

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/limit"
)

// The ninth program of a tenant waits until one ends. If none does, the refusal comes within the call's own timeout.
func TestAcquireCommandSlot_NinthProgramWaitsForHalfTheTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &Syncer{sessionCommandSlots: limit.NewGate[connectors.TenantID](maxTenantPrograms, maxPrograms)}
		tenant, other := connectors.TenantID{UUID: uuid.New()}, connectors.TenantID{UUID: uuid.New()}
		c := connectors.Connector{Settings: connectors.Settings{Transport: connectors.TransportStdio, Timeout: 10 * time.Second}}
		full := 0
		acquire := func(of connectors.TenantID) (func(), error) {
			return s.AcquireCommandSlot(t.Context(), of, c, func(bool) { full++ })
		}
		var releases []func()
		for range maxTenantPrograms {
			release, err := acquire(tenant)
			if err != nil {
				t.Fatal(err)
			}
			releases = append(releases, release)
		}
		start := time.Now()
		_, err := acquire(tenant)
		if waited := time.Since(start); waited != c.Timeout/2 || full != 1 || !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "Too many programs are running") {
			t.Errorf("after %s, asked for room %d times: %v", waited, full, err)
		}
		if _, err := acquire(other); err != nil || full != 1 {
			t.Errorf("another tenant: %v", err)
		}
		time.AfterFunc(time.Second, releases[0])
		if _, err := acquire(tenant); err != nil {
			t.Errorf("after one ended: %v", err)
		}
	})
}
