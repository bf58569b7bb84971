package admin_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"patchbay/internal/admin"
	"patchbay/internal/connectors"
	"patchbay/internal/safe"
)

// TestPage_PanicIsAFailurePageForItsReaderAlone has a page panic for one tenant's browser.
func TestPage_PanicIsAFailurePageForItsReaderAlone(t *testing.T) {
	var panics atomic.Bool
	d := newDashboard(t, func(o *admin.Options) {
		o.Now = func() time.Time {
			if panics.Load() {
				panic("a secret")
			}
			return time.Now()
		}
	})
	b := d.signInAsRole(connectors.RoleOwner)
	other := d.browser()
	other.signIn(d.MemberIn(t, d.Other, connectors.RoleOwner, d.withPassword()).Email)
	before := safe.Count(safe.Handler)
	panics.Store(true)
	for range 3 {
		if p := b.get("/connectors"); p.Status != http.StatusInternalServerError || strings.Contains(p.Body, "a secret") || !p.says("went wrong") {
			t.Fatalf("%d: %s", p.Status, p.Body)
		}
	}
	if p := other.get("/connectors/new"); p.Status != http.StatusOK {
		t.Errorf("another tenant's page: %d", p.Status)
	}
	panics.Store(false)
	if p := b.get("/connectors"); p.Status != http.StatusOK {
		t.Errorf("the page afterwards: %d", p.Status)
	}
	if n := safe.Count(safe.Handler) - before; n < 3 {
		t.Errorf("%d panics are counted", n)
	}
}
