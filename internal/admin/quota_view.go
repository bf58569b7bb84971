package admin

import (
	"context"
	"net/http"
	"strconv"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/internal/words"
	"patchbay/web/templates"
)

// nearlyUsed is from which share of a quota on its bar warns, in percent.
const nearlyUsed = 80

// quotaWords say a quota in one line; empty: there is none.
func quotaWords(ctx context.Context, q connectors.Quota) string {
	minute, day := perMinute(ctx, q.PerMinute), perDay(ctx, q.PerDay)
	if minute != "" && day != "" {
		return words.T(ctx, "%s and %s", minute, day)
	}
	return minute + day
}

func perMinute(ctx context.Context, n int) string {
	if n == 0 {
		return ""
	}
	return words.N(ctx, n, "%s call a minute", "%s calls a minute")
}

func perDay(ctx context.Context, n int) string {
	if n == 0 {
		return ""
	}
	return words.N(ctx, n, "%s call a day", "%s calls a day")
}

// tenantQuota is how much the tenant may call, and what was used today of its quotas.
func (h *Handler) tenantQuota(r *http.Request) (templates.TenantQuota, error) {
	ctx, t := r.Context(), actor(r).Tenant
	bars, err := h.quotaBars(r, func(connectors.QuotaUse) bool { return true })
	return templates.TenantQuota{MostPerMinute: perMinute(ctx, t.Most.PerMinute), MostPerDay: perDay(ctx, t.Most.PerDay), Bars: bars}, err
}

// usedUp are the quotas that refused something today, or soon will.
func (h *Handler) usedUp(r *http.Request) ([]templates.QuotaBar, error) {
	return h.quotaBars(r, func(u connectors.QuotaUse) bool {
		return u.OverMinute+u.OverDay > 0 || u.Quota.PerDay > 0 && u.Calls*100 >= u.Quota.PerDay*nearlyUsed
	})
}

// quotaBars are how much of some of the quotas was used today.
func (h *Handler) quotaBars(r *http.Request, shown func(connectors.QuotaUse) bool) (bars []templates.QuotaBar, err error) {
	ctx := r.Context()
	used, err := h.tenant(r).QuotaUses(ctx, h.now())
	if err != nil {
		return nil, err
	}
	for _, u := range connectors.QuotasOf(actor(r).Tenant, used) {
		if !shown(u) {
			continue
		}
		bar := dayBar(ctx, u)
		if bar.Of = words.T(ctx, "The whole organisation"); u.Tool != "" {
			bar.Of, bar.Href = u.ConnectorSlug+"/"+shorten(u.Tool, maxName), toolPath(u.ConnectorSlug, u.Tool)
		}
		bars = append(bars, bar)
	}
	return bars, nil
}

// toolQuotaBars are how much of a tool's quota is used: today, and of the minute that every process knows.
func (h *Handler) toolQuotaBars(r *http.Request, t connectors.Tool) ([]templates.QuotaBar, error) {
	if !t.Quota.Bounds() {
		return nil, nil
	}
	used, err := h.tenant(r).ToolQuotaUse(r.Context(), t.ConnectorID, t.Name, h.now())
	if err != nil {
		return nil, err
	}
	used.Quota = t.Quota
	bars := []templates.QuotaBar{dayBar(r.Context(), used)}
	if most := t.Quota.PerMinute; most > 0 {
		owner := store.QuotaOwner{Tenant: actor(r).Tenant.ID, Connector: t.ConnectorID, Tool: t.Name}
		n := most - h.calls.MinuteLeft(owner, t.Quota)
		bar := barOf(n, most)
		bar.Said = words.N(r.Context(), n, "%s of %s call of the minute", "%s of %s calls of the minute", words.Number(r.Context(), most))
		bars = append(bars, bar)
	}
	return bars, nil
}

// dayBar is how much of a day is used, and what was refused.
func dayBar(ctx context.Context, u connectors.QuotaUse) templates.QuotaBar {
	bar := templates.QuotaBar{}
	if u.Quota.PerDay > 0 {
		bar = barOf(u.Calls, u.Quota.PerDay)
		bar.Said = words.N(ctx, u.Calls, "%s of %s call today", "%s of %s calls today", words.Number(ctx, u.Quota.PerDay))
	} else {
		bar.Said = words.N(ctx, u.Calls, "%s call today", "%s calls today")
	}
	if over := u.OverMinute + u.OverDay; over > 0 {
		bar.Over = words.N(ctx, over, "%s call refused today", "%s calls refused today")
	}
	return bar
}

func barOf(n, most int) templates.QuotaBar {
	return templates.QuotaBar{Value: strconv.Itoa(min(max(n, 0), most)), Max: strconv.Itoa(most), High: strconv.Itoa(most * nearlyUsed / 100)}
}
