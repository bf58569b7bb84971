package store

import (
	"context"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/store/dbgen"
)

// QuotaOwner identifies a quota: a tool's, or the tenant's if Connector is zero and Tool empty.
type QuotaOwner struct {
	Tenant    connectors.TenantID
	Connector connectors.ConnectorID
	Tool      string
}

// QuotaCount is the use of a quota on a day.
type QuotaCount struct {
	QuotaOwner
	Day        time.Time // [connectors.QuotaDay]
	Calls      int       // allowed
	OverMinute int       // refused
	OverDay    int       // refused
}

// CountQuotas adds a process's counts, each owner and day at most once, and returns the new totals of all
// processes. Counts without a total were not added: the tenant is deleted or locked.
func (s SystemCalls) CountQuotas(ctx context.Context, counts []QuotaCount) ([]QuotaCount, error) {
	var p dbgen.CountQuotasParams
	for _, c := range counts {
		p.TenantIds = append(p.TenantIds, c.Tenant.UUID)
		p.Days = append(p.Days, c.Day)
		p.ConnectorIds = append(p.ConnectorIds, c.Connector.UUID)
		p.Tools = append(p.Tools, cleanText(c.Tool))
		p.Calls = append(p.Calls, int64(c.Calls))
		p.OverMinutes = append(p.OverMinutes, int64(c.OverMinute))
		p.OverDays = append(p.OverDays, int64(c.OverDay))
	}
	rows, err := s.q.CountQuotas(ctx, p)
	return mapRows(rows, func(r dbgen.CountQuotasRow) QuotaCount {
		return QuotaCount{QuotaOwner: QuotaOwner{r.TenantID, r.ConnectorID, r.Tool}, Day: r.Day.UTC(), Calls: int(r.Calls)}
	}), err
}

// QuotasOfDay returns the totals of all quotas on the day of a time.
func (s SystemCalls) QuotasOfDay(ctx context.Context, at time.Time) ([]QuotaCount, error) {
	day := connectors.QuotaDay(at)
	rows, err := s.q.QuotasOfDay(ctx, day)
	return mapRows(rows, func(r dbgen.QuotasOfDayRow) QuotaCount {
		return QuotaCount{QuotaOwner: QuotaOwner{r.TenantID, r.ConnectorID, r.Tool}, Day: day, Calls: int(r.Calls)}
	}), err
}
