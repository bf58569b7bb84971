package connectors

import (
	"fmt"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/fault"
)

// MaxCallsPerDay bounds quotas.
const MaxCallsPerDay = 1_000_000_000

// Quota is how often something may be called. 0: not bounded so.
type Quota struct {
	PerMinute int
	PerDay    int // from midnight to midnight, UTC
}

// Bounds tells whether there is a bound at all.
func (q Quota) Bounds() bool { return q != Quota{} }

// Below is the quota under a ceiling.
func (q Quota) Below(most Quota) Quota {
	return Quota{PerMinute: lower(q.PerMinute, most.PerMinute), PerDay: lower(q.PerDay, most.PerDay)}
}

func lower(n, most int) int {
	if n == 0 || most > 0 && most < n {
		return most
	}
	return n
}

// Validate tells what is wrong, with locations behind a prefix.
func (q Quota) Validate(prefix string) []fault.Field {
	var c check
	c.quota(prefix, q)
	return c.fields
}

// Within tells where the quota is above a ceiling.
func (q Quota) Within(most Quota) (fields []fault.Field) {
	if most.PerMinute > 0 && q.PerMinute > most.PerMinute {
		fields = append(fields, fault.Field{Location: "calls_per_minute", Message: fmt.Sprintf(
			"Whoever runs this installation set %d calls a minute at most. Choose that or less; 0 is as many.", most.PerMinute)})
	}
	if most.PerDay > 0 && q.PerDay > most.PerDay {
		fields = append(fields, fault.Field{Location: "calls_per_day", Message: fmt.Sprintf(
			"Whoever runs this installation set %d calls a day at most. Choose that or less; 0 is as many.", most.PerDay)})
	}
	return fields
}

func (c *check) quota(prefix string, q Quota) {
	if q.PerMinute < 0 || q.PerMinute > MaxCallsPerMinute {
		c.refuse(prefix+"calls_per_minute", "Calls are limited to 1 to %d a minute; 0 is no limit.", MaxCallsPerMinute)
	}
	if q.PerDay < 0 || q.PerDay > MaxCallsPerDay {
		c.refuse(prefix+"calls_per_day", "Calls are limited to 1 to %d a day; 0 is no limit.", MaxCallsPerDay)
	}
}

// QuotaUse is what was used of a quota on one day.
type QuotaUse struct {
	ConnectorID   ConnectorID // zero: it is the tenant's quota
	ConnectorSlug string
	Tool          string // the server's name for it; empty: it is the tenant's quota
	Quota         Quota  // as it is now; the tenant's own, without its ceiling
	Calls         int    // let through
	OverMinute    int    // refused, because of the minute's bound
	OverDay       int    // refused, because of the day's
}

// QuotaDay is the day, in UTC, on which something counts.
func QuotaDay(at time.Time) time.Time { return at.UTC().Truncate(24 * time.Hour) }

// quotaSpace is where the names of tools' quotas are made (RFC 9562 §5.5).
var quotaSpace = uuid.MustParse("6f0d1c1e-53a5-4c1c-9a6e-5a0f1f6c2b5d")

// QuotaName names a tool's quota, in few bytes: tools may be called anything.
func QuotaName(c ConnectorID, tool string) uuid.UUID {
	return uuid.NewSHA1(quotaSpace, append(c.UUID[:], tool...))
}

// QuotasOf are the quotas of a tenant that bound something, of what was used: the tenant's own first, in effect and used or not.
func QuotasOf(t Tenant, used []QuotaUse) []QuotaUse {
	own, others := QuotaUse{}, make([]QuotaUse, 0, len(used)+1)
	for _, u := range used {
		switch {
		case u.Tool == "":
			own = u
		case u.Quota.Bounds():
			others = append(others, u)
		}
	}
	if own.Quota = t.Calls(); !own.Quota.Bounds() {
		return others
	}
	return append([]QuotaUse{own}, others...)
}
