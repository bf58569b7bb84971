package admin

import (
	"context"
	"slices"
	"strconv"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/web/templates"
)

// timeRange is a range of time up to now, in equal parts.
type timeRange struct {
	key                 string   // "24h"
	title               i18n.Key // "Last 24 hours"
	inSentence          i18n.Key // "last 24 hours"
	hoursPerPart, parts int
}

var timeRanges = []timeRange{
	{key: "24h", title: "Last 24 hours", inSentence: "last 24 hours", hoursPerPart: 1, parts: 24},
	{key: "7d", title: "Last 7 days", inSentence: "last 7 days", hoursPerPart: 6, parts: 28},
}

// findTimeRange returns the range with that key, or the first.
func findTimeRange(key string) timeRange {
	for _, s := range timeRanges {
		if s.key == key {
			return s
		}
	}
	return timeRanges[0]
}

func figuresView(ctx context.Context, f *connectors.Figures, s timeRange, now time.Time) templates.Figures {
	parts := f.Periods(now, s.hoursPerPart, s.parts)
	total := connectors.TotalPeriod(parts)
	view := templates.Figures{
		Title: i18n.T(ctx, s.title),
		List: []templates.Figure{
			callsFigure(ctx, parts, total, s), errorsFigure(ctx, parts, total, s), latencyFigure(ctx, parts, total, s),
			toolsFigure(ctx, parts, f, now), syncsFigure(ctx, parts, total, s),
		},
	}
	if f.Since != nil {
		view.Since = new(newWhen(ctx, *f.Since, now))
	}
	for _, one := range timeRanges {
		text := i18n.T(ctx, "24 hours")
		if one.key == "7d" {
			text = i18n.T(ctx, "7 days")
		}
		view.Periods = append(view.Periods, templates.Period{Text: text, Href: "/?period=" + one.key, Current: one.key == s.key})
	}
	for i := len(parts) - 1; i >= 0; i-- { // newest first
		view.Rows = append(view.Rows, figureRow(ctx, &parts[i], now))
	}
	return view
}

func callsFigure(ctx context.Context, parts []connectors.Period, total connectors.Period, s timeRange) templates.Figure {
	calls := total.Calls.Calls()
	fig := templates.Figure{
		Label: i18n.T(ctx, "Calls"), Value: i18n.Number(ctx, calls), Href: "/calls", Note: i18n.T(ctx, "%s an hour", i18n.Number(ctx, calls/(s.hoursPerPart*s.parts))),
		Spark: newSparkline(parts, func(p *connectors.Period) (float64, bool) { return float64(p.Calls.Calls()), true }),
		Said:  i18n.T(ctx, "Calls in the %s: %s.", i18n.T(ctx, s.inSentence), i18n.Number(ctx, calls)),
	}
	if total.Calls.Other > 0 {
		fig.Note = i18n.T(ctx, "%s denied or cancelled", i18n.Number(ctx, total.Calls.Other))
	}
	return fig
}

func errorsFigure(ctx context.Context, parts []connectors.Period, total connectors.Period, s timeRange) templates.Figure {
	failed, calls := total.Calls.Failed, total.Calls.Calls()
	fig := templates.Figure{
		Label: i18n.T(ctx, "Errors"), Value: "–", Href: "/calls?status=error", Note: i18n.T(ctx, "no calls"),
		Spark: newSparkline(parts, func(p *connectors.Period) (float64, bool) { return float64(p.Calls.Failed), true }),
		Said:  i18n.T(ctx, "Errors in the %s: there were no calls.", i18n.T(ctx, s.inSentence)),
	}
	if calls > 0 {
		fig.Value, fig.Note = formatShare(failed, calls), i18n.T(ctx, "%s of %s", i18n.Number(ctx, failed), i18n.Number(ctx, calls))
		fig.Said = i18n.N(ctx, calls, "Errors in the %[2]s: %[3]s of %[1]s call, %[4]s.", "Errors in the %[2]s: %[3]s of %[1]s calls, %[4]s.", i18n.T(ctx, s.inSentence), i18n.Number(ctx, failed), fig.Value)
	}
	return fig
}

// formatShare rounds up to hundredths of a percent, so that only zero is 0 %.
func formatShare(n, total int) string {
	hundredths := (n*10_000 + total - 1) / total
	return strconv.FormatFloat(float64(hundredths)/100, 'f', -1, 64) + " %"
}

func latencyFigure(ctx context.Context, parts []connectors.Period, total connectors.Period, s timeRange) templates.Figure {
	fig := templates.Figure{
		Label: i18n.T(ctx, "p95 latency"), Value: "–", Href: "/calls", Note: i18n.T(ctx, "no calls"),
		Spark: newSparkline(parts, func(p *connectors.Period) (float64, bool) {
			return float64(p.P95()), p.Calls.Latencies.Count() > 0
		}),
		Said: i18n.T(ctx, "Latency in the %s: no server was called.", i18n.T(ctx, s.inSentence)),
	}
	if total.Calls.Latencies.Count() > 0 {
		fig.Value, fig.Note = formatDuration(ctx, total.P95()), i18n.T(ctx, "median %s", formatDuration(ctx, total.Calls.Latencies.Quantile(0.5)))
		fig.Said = i18n.T(ctx, "Latency in the %s: 95 of 100 calls took at most %s, and half of them %s.", i18n.T(ctx, s.inSentence), fig.Value, formatDuration(ctx, total.Calls.Latencies.Quantile(0.5)))
	}
	return fig
}

func toolsFigure(ctx context.Context, parts []connectors.Period, f *connectors.Figures, now time.Time) templates.Figure {
	first := slices.IndexFunc(parts, func(p connectors.Period) bool { return p.Tools >= 0 })
	return templates.Figure{
		Label: i18n.T(ctx, "Tools"), Value: i18n.Number(ctx, f.Tools), Href: "/tools", Note: i18n.N(ctx, connectorCount(*f), "of %s connector", "of %s connectors"),
		Spark: newSparkline(parts, func(p *connectors.Period) (float64, bool) { return float64(p.Tools), p.Tools >= 0 }),
		Said:  i18n.T(ctx, "Tools: %s, after %s %s.", i18n.Number(ctx, f.Tools), i18n.Number(ctx, parts[first].Tools), formatRelative(ctx, parts[first].From, now)),
	}
}

func syncsFigure(ctx context.Context, parts []connectors.Period, total connectors.Period, s timeRange) templates.Figure {
	syncs := total.Syncs.OK + total.Syncs.Failed
	fig := templates.Figure{
		Label: i18n.T(ctx, "Syncs"), Value: i18n.Number(ctx, syncs), Href: "/connectors", Note: i18n.T(ctx, "none failed"),
		Spark: newSparkline(parts, func(p *connectors.Period) (float64, bool) { return float64(p.Syncs.OK + p.Syncs.Failed), true }),
		Said:  i18n.T(ctx, "Syncs in the %s: %s, of which %s failed.", i18n.T(ctx, s.inSentence), i18n.Number(ctx, syncs), i18n.Number(ctx, total.Syncs.Failed)),
	}
	if total.Syncs.Failed > 0 {
		fig.Note = i18n.T(ctx, "%s failed", i18n.Number(ctx, total.Syncs.Failed))
	}
	if syncs == 0 {
		fig.Note = i18n.T(ctx, "none")
	}
	return fig
}

func figureRow(ctx context.Context, p *connectors.Period, now time.Time) templates.FigureRow {
	row := templates.FigureRow{
		When: newWhen(ctx, p.From, now), Calls: i18n.Number(ctx, p.Calls.Calls()), Failed: i18n.Number(ctx, p.Calls.Failed), P95: "–",
		Tools: "–", Syncs: i18n.Number(ctx, p.Syncs.OK+p.Syncs.Failed),
	}
	if p.Tools >= 0 {
		row.Tools = i18n.Number(ctx, p.Tools)
	}
	row.When.Text = p.From.Format("Mon 2 Jan, 15:04 UTC")
	if p.Calls.Latencies.Count() > 0 {
		row.P95 = formatDuration(ctx, p.P95())
	}
	return row
}
