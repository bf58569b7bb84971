package store

import (
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
)

func TestAnswerCounts_CountOnceAMinute(t *testing.T) {
	t.Parallel()
	c, now := newAnswerCounts(), time.Now()
	tenant, other := connectors.TenantID{UUID: uuid.New()}, connectors.TenantID{UUID: uuid.New()}
	check := func(why string, of connectors.TenantID, at time.Duration, recount, fits bool) {
		t.Helper()
		if r, f := c.checkBound(of, 100, now.Add(at)); r != recount || f != fits {
			t.Errorf("%s: recount %t, fits %t", why, r, f)
		}
	}
	check("first", tenant, 0, true, true)
	check("while it is counted", tenant, time.Second, false, true)
	c.setCounted(tenant, 3, 60, nil)
	c.addAnswer(tenant, 39)
	check("below the bound", tenant, 2*time.Second, false, true)
	c.addAnswer(tenant, 1)
	check("at the bound", tenant, 59*time.Second, false, false)
	check("another tenant", other, 59*time.Second, true, true)
	check("a minute later", tenant, time.Minute, true, true)
	c.setCounted(tenant, 0, 0, errors.New("no connection"))
	check("after an error", tenant, 61*time.Second, true, true)
	c.setCounted(tenant, maxTenantAnswers-1, 1, nil)
	check("one answer left", tenant, 62*time.Second, false, true)
	c.addAnswer(tenant, 1)
	check("no answer left", tenant, 63*time.Second, false, false)
}
