package connectors

import (
	"fmt"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/fault"
)

// MaxCallsPerDay bounds quotas.
const MaxCallsPerDay = 1_000_000_000

// Quota bounds calls; 0: no limit.
type Quota struct {
	PerMinute int
	PerDay    int // from midnight to midnight, UTC
}

// Bounds reports whether there is a limit.
func (q Quota) Bounds() bool { return q != Quota{} }

// Below returns the quota limited by a maximum.
func (q Quota) Below(maximum Quota) Quota {
	return Quota{PerMinute: minLimit(q.PerMinute, maximum.PerMinute), PerDay: minLimit(q.PerDay, maximum.PerDay)}
}

func minLimit(n, maximum int) int {
	if n == 0 || maximum > 0 && maximum < n {
		return maximum
	}
	return n
}

// Validate returns the invalid fields, with locations after a prefix.
func (q Quota) Validate(prefix string) []fault.Field {
	var c validation
	c.checkQuota(prefix, q)
	return c.fields
}

// Within returns the fields above a maximum.
func (q Quota) Within(maximum Quota) (fields []fault.Field) {
	if maximum.PerMinute > 0 && q.PerMinute > maximum.PerMinute {
		fields = append(fields, fault.Field{Location: "calls_per_minute", Message: fmt.Sprintf(
			"The operator allows at most %d calls per minute; 0 uses that limit.", maximum.PerMinute)})
	}
	if maximum.PerDay > 0 && q.PerDay > maximum.PerDay {
		fields = append(fields, fault.Field{Location: "calls_per_day", Message: fmt.Sprintf(
			"The operator allows at most %d calls per day; 0 uses that limit.", maximum.PerDay)})
	}
	return fields
}

func (c *validation) checkQuota(prefix string, q Quota) {
	if q.PerMinute < 0 || q.PerMinute > MaxCallsPerMinute {
		c.addField(prefix+"calls_per_minute", "Must be 0–%d per minute (0: no limit).", MaxCallsPerMinute)
	}
	if q.PerDay < 0 || q.PerDay > MaxCallsPerDay {
		c.addField(prefix+"calls_per_day", "Must be 0–%d per day (0: no limit).", MaxCallsPerDay)
	}
}

// QuotaUse is a quota's use on one day.
type QuotaUse struct {
	ConnectorID   ConnectorID // zero: the tenant's quota
	ConnectorSlug string
	Tool          string // the server's name; empty: the tenant's quota
	Quota         Quota  // current; the tenant's own, without its maximum
	Calls         int    // allowed
	OverMinute    int    // refused by the limit per minute
	OverDay       int    // refused by the limit per day
}

// QuotaDay returns the UTC day of a quota.
func QuotaDay(at time.Time) time.Time { return at.UTC().Truncate(24 * time.Hour) }

// quotaNamespace is the UUID namespace of QuotaName (RFC 9562 section 5.5).
var quotaNamespace = uuid.MustParse("6f0d1c1e-53a5-4c1c-9a6e-5a0f1f6c2b5d")

// QuotaName returns a fixed-size name of a tool's quota.
func QuotaName(c ConnectorID, tool string) uuid.UUID {
	return uuid.NewSHA1(quotaNamespace, append(c.UUID[:], tool...))
}

// QuotasOf returns a tenant's effective quotas and their use, the tenant's own first, used or not.
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
