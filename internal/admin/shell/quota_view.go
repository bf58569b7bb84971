package shell

import (
	"context"
	"net/http"
	"strconv"

	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/internal/store"
	"patchbay/web/templates"
)

// quotaWarnPercent is the use from which a quota's bar warns.
const quotaWarnPercent = 80

// QuotaText says a quota in one line; empty if there is none.
func QuotaText(ctx context.Context, q connectors.Quota) string {
	minute, day := perMinuteText(ctx, q.PerMinute), perDayText(ctx, q.PerDay)
	if minute != "" && day != "" {
		return i18n.T(ctx, "%s and %s", minute, day)
	}
	return minute + day
}

func perMinuteText(ctx context.Context, n int) string {
	if n == 0 {
		return ""
	}
	return i18n.N(ctx, n, "%s call per minute", "%s calls per minute")
}

func perDayText(ctx context.Context, n int) string {
	if n == 0 {
		return ""
	}
	return i18n.N(ctx, n, "%s call per day", "%s calls per day")
}

// TenantQuota is the tenant's quota with today's use.
func (h *Shell) TenantQuota(r *http.Request) (templates.TenantQuota, error) {
	ctx, t := r.Context(), Actor(r).Tenant
	bars, err := h.quotaBars(r, h.TenantStore(r).Calls(), func(connectors.QuotaUse) bool { return true })
	return templates.TenantQuota{MaxPerMinute: perMinuteText(ctx, t.MaxQuota.PerMinute), MaxPerDay: perDayText(ctx, t.MaxQuota.PerDay), Bars: bars}, err
}

// ExhaustedQuotas are the quotas that refused calls today, or soon will.
func (h *Shell) ExhaustedQuotas(r *http.Request, tenant store.Calls) ([]templates.QuotaBar, error) {
	return h.quotaBars(r, tenant, func(u connectors.QuotaUse) bool {
		return u.OverMinute+u.OverDay > 0 || u.Quota.PerDay > 0 && u.Calls*100 >= u.Quota.PerDay*quotaWarnPercent
	})
}

// quotaBars shows today's use of the quotas that include selects.
func (h *Shell) quotaBars(r *http.Request, tenant store.Calls, include func(connectors.QuotaUse) bool) (bars []templates.QuotaBar, err error) {
	ctx := r.Context()
	used, err := tenant.QuotaUses(ctx, h.Now())
	if err != nil {
		return nil, err
	}
	for _, u := range connectors.QuotasOf(Actor(r).Tenant, used) {
		if !include(u) {
			continue
		}
		bar := dayBar(ctx, u)
		if bar.Of = i18n.T(ctx, "Whole organisation"); u.Tool != "" {
			bar.Of, bar.Href = u.ConnectorSlug+"/"+ShortenText(u.Tool, MaxName), ToolPath(u.ConnectorSlug, u.Tool)
		}
		bars = append(bars, bar)
	}
	return bars, nil
}

// ToolQuotaBars shows a tool's use of today, and of the current minute across all processes.
func (h *Shell) ToolQuotaBars(r *http.Request, t connectors.Tool) ([]templates.QuotaBar, error) {
	if !t.Quota.Bounds() {
		return nil, nil
	}
	used, err := h.TenantStore(r).Calls().ToolQuotaUse(r.Context(), t.ConnectorID, t.Name, h.Now())
	if err != nil {
		return nil, err
	}
	used.Quota = t.Quota
	bars := []templates.QuotaBar{dayBar(r.Context(), used)}
	if limit := t.Quota.PerMinute; limit > 0 {
		owner := store.QuotaOwner{Tenant: Actor(r).Tenant.ID, Connector: t.ConnectorID, Tool: t.Name}
		n := limit - h.calls.MinuteLeft(owner, t.Quota)
		bar := newQuotaBar(n, limit)
		bar.Said = i18n.N(r.Context(), n, "%s of %s calls this minute", "%s of %s calls this minute", i18n.Number(r.Context(), limit))
		bars = append(bars, bar)
	}
	return bars, nil
}

// dayBar shows a day's use, and the refused calls.
func dayBar(ctx context.Context, u connectors.QuotaUse) templates.QuotaBar {
	bar := templates.QuotaBar{}
	if u.Quota.PerDay > 0 {
		bar = newQuotaBar(u.Calls, u.Quota.PerDay)
		bar.Said = i18n.N(ctx, u.Calls, "%s of %s call today", "%s of %s calls today", i18n.Number(ctx, u.Quota.PerDay))
	} else {
		bar.Said = i18n.N(ctx, u.Calls, "%s call today", "%s calls today")
	}
	if refused := u.OverMinute + u.OverDay; refused > 0 {
		bar.Over = i18n.N(ctx, refused, "%s call refused today", "%s calls refused today")
	}
	return bar
}

func newQuotaBar(n, limit int) templates.QuotaBar {
	return templates.QuotaBar{Value: strconv.Itoa(min(max(n, 0), limit)), Max: strconv.Itoa(limit), High: strconv.Itoa(limit * quotaWarnPercent / 100)}
}
