package api

import (
	"context"
	"net/http"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

func (h *Handler) mountOverview() {
	registerOperation(h, operation{
		method: http.MethodGet, path: "/api/v1/overview", id: "getOverview", tag: "Overview",
		summary: "Get what needs a person, and statistics of calls, tools and syncs", permission: connectors.PermRead,
	}, h.getOverview)
	registerOperation(h, operation{
		method: http.MethodPost, path: "/api/v1/usage/reset", id: "resetUsage", tag: "Overview",
		summary: "Reset usage statistics", permission: connectors.PermManage,
		description: "Affects only the figures of the overview and the home page. Calls, runs and the audit log are kept.",
	}, h.resetUsage)
}

type overviewInput struct {
	Hours int `query:"hours" minimum:"1" maximum:"168" default:"24" doc:"Hours to look back, including the current one: 24 is a day, 168 a week."`
}

// usageJSON is the start of counting.
type usageJSON struct {
	Since time.Time `json:"usage_since" doc:"Start of the usage statistics."`
}

func (h *Handler) resetUsage(ctx context.Context, actor auth.Actor, _ *struct{}) (*response[usageJSON], error) {
	since, err := h.registry.ResetUsage(ctx, actor, time.Now())
	if err != nil {
		return nil, err
	}
	return &response[usageJSON]{Body: usageJSON{since}}, nil
}

// overviewJSON is the content of the dashboard's home page.
type overviewJSON struct {
	Needs      needsJSON          `json:"needs" doc:"Number of items that need a person."`
	Connectors map[string]int     `json:"connectors" doc:"Number of connectors by status."`
	Tools      int                `json:"tools"`
	UsageSince *time.Time         `json:"usage_since" doc:"When usage statistics (calls, errors, durations, syncs) were last reset. Null if never."`
	Total      overviewFigures    `json:"total" doc:"Totals over all hours."`
	Hours      []overviewHourJSON `json:"hours" nullable:"false" doc:"Oldest first, including hours without activity."`
}

type needsJSON struct {
	Approval      int `json:"approval" doc:"Calls that wait for approval."`
	Access        int `json:"access" doc:"Requests for access that wait for a decision."`
	Authorization int `json:"authorization" doc:"Connectors whose credential is missing, ended or refused."`
	Server        int `json:"server" doc:"Connectors whose server does not answer correctly."`
	Tools         int `json:"tools" doc:"Connectors that lost more than half of their tools."`
	Renewal       int `json:"renewal" doc:"Accounts that end within 72 hours unless reconnected."`
	Review        int `json:"review" doc:"Held tools with a new or changed definition."`
}

// overviewFigures are the figures of a period.
type overviewFigures struct {
	Calls       int    `json:"calls" doc:"Calls that ended."`
	Errors      int    `json:"errors" doc:"How many of them have status error."`
	P50MS       *int64 `json:"p50_ms" doc:"Median call duration, to a tenth. Null if no server answered a call."`
	P95MS       *int64 `json:"p95_ms" doc:"95th percentile, likewise."`
	Syncs       int    `json:"syncs"`
	SyncsFailed int    `json:"syncs_failed" doc:"How many of them failed."`
}

type overviewHourJSON struct {
	Hour time.Time `json:"hour" doc:"Start of the hour."`
	overviewFigures
	Tools *int `json:"tools" doc:"Number of tools at the end of the hour. Null if unknown."`
}

func (h *Handler) getOverview(ctx context.Context, actor auth.Actor, in *overviewInput) (*response[overviewJSON], error) {
	now := time.Now()
	var needs connectors.Needs
	var f connectors.Figures
	err := h.store.Tenant(actor.Tenant.ID).Snapshot(ctx, func(tx *store.Tenant) (err error) {
		if needs, err = tx.Lists().AttentionItems(ctx, 1); err != nil { // the counts are of all
			return err
		}
		f, err = tx.Calls().Figures(ctx, now.Add(-time.Duration(in.Hours)*time.Hour))
		return err
	})
	if err != nil {
		return nil, err
	}
	return &response[overviewJSON]{Body: viewOverview(needs, f, in.Hours, now)}, nil
}

func viewOverview(needs connectors.Needs, f connectors.Figures, hours int, now time.Time) overviewJSON {
	parts := f.Periods(now, 1, hours)
	total := connectors.TotalPeriod(parts)
	out := overviewJSON{
		Needs: needsJSON{
			Approval: needs.Totals[connectors.NeedApproval], Access: needs.Totals[connectors.NeedAccess], Authorization: needs.Totals[connectors.NeedAuthorization],
			Server: needs.Totals[connectors.NeedServer], Tools: needs.Totals[connectors.NeedTools], Renewal: needs.Totals[connectors.NeedRenewal], Review: needs.Totals[connectors.NeedReview],
		},
		Connectors: map[string]int{}, Tools: f.Tools, UsageSince: toUTC(f.Since), Total: viewFigures(&total), Hours: make([]overviewHourJSON, len(parts)),
	}
	for status, n := range f.Connectors {
		out.Connectors[string(status)] = n
	}
	for i := range parts {
		p := &parts[i]
		out.Hours[i] = overviewHourJSON{Hour: p.From, overviewFigures: viewFigures(p)}
		if p.Tools >= 0 {
			out.Hours[i].Tools = &p.Tools
		}
	}
	return out
}

func viewFigures(p *connectors.Period) overviewFigures {
	out := overviewFigures{
		Calls: p.Calls.Calls(), Errors: p.Calls.Failed, Syncs: p.Syncs.OK + p.Syncs.Failed, SyncsFailed: p.Syncs.Failed,
	}
	if l := &p.Calls.Latencies; l.Count() > 0 {
		out.P50MS, out.P95MS = new(l.Quantile(0.5).Milliseconds()), new(l.Quantile(0.95).Milliseconds())
	}
	return out
}
