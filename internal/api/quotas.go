package api

import (
	"context"
	"net/http"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// quotaJSON is today's use of one quota.
type quotaJSON struct {
	Connector      string `json:"connector" doc:"By its slug; empty: it is the tenant's own quota."`
	Tool           string `json:"tool" doc:"The server's own name for it; empty: it is the tenant's own quota."`
	CallsPerMinute int    `json:"calls_per_minute" doc:"0: not bounded so."`
	CallsPerDay    int    `json:"calls_per_day" doc:"0: not bounded so."`
	Calls          int    `json:"calls" doc:"Let through today."`
	OverMinute     int    `json:"over_minute" doc:"Refused today, since a minute's calls were used up."`
	OverDay        int    `json:"over_day" doc:"Refused today, since the day's were."`
}

// quotasJSON is today's use of quotas.
type quotasJSON struct {
	Since time.Time   `json:"since" doc:"When the day began: midnight, UTC."`
	Until time.Time   `json:"until" doc:"When calls go on that a day's quota refuses."`
	Items []quotaJSON `json:"items" nullable:"false" doc:"The tenant's own first, then those that were hit. A tool that was not called today is left out; 500 at most."`
}

func (h *Handler) mountQuotas() {
	registerOperation(h, operation{
		method: http.MethodGet, path: "/api/v1/quotas", id: "listQuotas", tag: "Tool calls",
		summary: "Read what was used today of the quotas of the tenant and of tools", permission: connectors.PermRead,
		description: "A process counts once a second, so that the last calls may be missing. What a quota refuses has the code quota_exceeded, Retry-After, and 429 where a call is made here.",
	}, h.listQuotas)
}

func (h *Handler) listQuotas(ctx context.Context, actor auth.Actor, _ *struct{}) (*response[quotasJSON], error) {
	now := time.Now()
	var used []connectors.QuotaUse
	var self connectors.Tenant
	err := h.store.Tenant(actor.Tenant.ID).Snapshot(ctx, func(tx *store.Tenant) (err error) {
		if used, err = tx.Calls().QuotaUses(ctx, now); err != nil {
			return err
		}
		self, err = tx.Self(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	day := connectors.QuotaDay(now)
	out := quotasJSON{Since: day, Until: day.Add(24 * time.Hour), Items: []quotaJSON{}}
	for _, u := range connectors.QuotasOf(self, used) {
		out.Items = append(out.Items, quotaJSON{
			Connector: u.ConnectorSlug, Tool: u.Tool, CallsPerMinute: u.Quota.PerMinute, CallsPerDay: u.Quota.PerDay,
			Calls: u.Calls, OverMinute: u.OverMinute, OverDay: u.OverDay,
		})
	}
	return &response[quotasJSON]{Body: out}, nil
}
