package store

import (
	"context"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/store/dbgen"
)

// QuotaOwner is whose quota it is: a tool's, or the tenant's where Connector is zero and Tool empty.
type QuotaOwner struct {
	Tenant    connectors.TenantID
	Connector connectors.ConnectorID
	Tool      string
}

// QuotaCount is what counts under a quota on a day.
type QuotaCount struct {
	QuotaOwner
	Day        time.Time // [connectors.QuotaDay]
	Calls      int       // let through
	OverMinute int       // refused
	OverDay    int       // refused
}

// CountQuotas adds what a process has let through and refused, each owner and day once at most, and answers the calls that there are then, of all processes.
// What is not answered was not added: its tenant is gone, or somebody holds it.
func (s *System) CountQuotas(ctx context.Context, counts []QuotaCount) ([]QuotaCount, error) {
	var p dbgen.CountQuotasParams
	for _, c := range counts {
		p.TenantIds = append(p.TenantIds, c.Tenant.UUID)
		p.Days = append(p.Days, c.Day)
		p.ConnectorIds = append(p.ConnectorIds, c.Connector.UUID)
		p.Tools = append(p.Tools, clean(c.Tool))
		p.Calls = append(p.Calls, int64(c.Calls))
		p.OverMinutes = append(p.OverMinutes, int64(c.OverMinute))
		p.OverDays = append(p.OverDays, int64(c.OverDay))
	}
	rows, err := s.q.CountQuotas(ctx, p)
	return each(rows, func(r dbgen.CountQuotasRow) QuotaCount {
		return QuotaCount{QuotaOwner: QuotaOwner{r.TenantID, r.ConnectorID, r.Tool}, Day: r.Day.UTC(), Calls: int(r.Calls)}
	}), err
}

// QuotasOfDay are the calls under all quotas that were counted on the day of a time.
func (s *System) QuotasOfDay(ctx context.Context, at time.Time) ([]QuotaCount, error) {
	day := connectors.QuotaDay(at)
	rows, err := s.q.QuotasOfDay(ctx, day)
	return each(rows, func(r dbgen.QuotasOfDayRow) QuotaCount {
		return QuotaCount{QuotaOwner: QuotaOwner{r.TenantID, r.ConnectorID, r.Tool}, Day: day, Calls: int(r.Calls)}
	}), err
}
