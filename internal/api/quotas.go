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
	Connector      string `json:"connector" doc:"The connector's slug. Empty for the tenant's quota."`
	Tool           string `json:"tool" doc:"The server's name for the tool. Empty for the tenant's quota."`
	CallsPerMinute int    `json:"calls_per_minute" doc:"0: no limit."`
	CallsPerDay    int    `json:"calls_per_day" doc:"0: no limit."`
	Calls          int    `json:"calls" doc:"Calls allowed today."`
	OverMinute     int    `json:"over_minute" doc:"Calls refused today by the minute quota."`
	OverDay        int    `json:"over_day" doc:"Calls refused today by the day quota."`
}

// quotasJSON is today's use of quotas.
type quotasJSON struct {
	Since time.Time   `json:"since" doc:"Start of the day: midnight UTC."`
	Until time.Time   `json:"until" doc:"When the day quota resets."`
	Items []quotaJSON `json:"items" nullable:"false" doc:"The tenant's quota first, then exceeded ones. Excludes tools not called today; at most 500."`
}

func (h *Handler) mountQuotas() {
	registerOperation(h, operation{
		method: http.MethodGet, path: "/api/v1/quotas", id: "listQuotas", tag: "Tool calls",
		summary: "Get today's use of the tenant's and tools' quotas", permission: connectors.PermRead,
		description: "Counted once a second, so the latest calls may be missing. Calls over quota get code quota_exceeded and Retry-After; through this API, with status 429.",
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
