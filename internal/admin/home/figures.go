package home

import (
	"context"
	"slices"
	"time"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/web/templates"
)

func figuresView(ctx context.Context, f *connectors.Figures, s shell.TimeRange, now time.Time) templates.Figures {
	parts := f.Periods(now, s.HoursPerPart, s.Parts)
	total := connectors.TotalPeriod(parts)
	view := templates.Figures{
		Title: i18n.T(ctx, s.Title),
		List: []templates.Figure{
			callsFigure(ctx, parts, total, s), errorsFigure(ctx, parts, total, s), latencyFigure(ctx, parts, total, s),
			toolsFigure(ctx, parts, f, now), syncsFigure(ctx, parts, total, s),
		},
	}
	if f.Since != nil {
		view.Since = new(shell.NewWhen(ctx, *f.Since, now))
	}
	for _, one := range shell.TimeRanges {
		text := i18n.T(ctx, "24 hours")
		if one.Key == "7d" {
			text = i18n.T(ctx, "7 days")
		}
		view.Periods = append(view.Periods, templates.Period{Text: text, Href: "/?period=" + one.Key, Current: one.Key == s.Key})
	}
	for i := len(parts) - 1; i >= 0; i-- { // newest first
		view.Rows = append(view.Rows, figureRow(ctx, &parts[i], now))
	}
	return view
}

func callsFigure(ctx context.Context, parts []connectors.Period, total connectors.Period, s shell.TimeRange) templates.Figure {
	calls := total.Calls.Calls()
	fig := templates.Figure{
		Label: i18n.T(ctx, "Calls"), Value: i18n.Number(ctx, calls), Href: "/calls", Note: i18n.T(ctx, "under 1 per hour"),
		Spark: shell.NewSparkline(parts, func(p *connectors.Period) (float64, bool) { return float64(p.Calls.Calls()), true }),
		Said:  i18n.T(ctx, "Calls, %s: %s.", i18n.T(ctx, s.InSentence), i18n.Number(ctx, calls)),
	}
	if perHour := calls / (s.HoursPerPart * s.Parts); perHour > 0 {
		fig.Note = i18n.T(ctx, "%s per hour", i18n.Number(ctx, perHour))
	}
	if calls == 0 {
		fig.Note = i18n.T(ctx, "none")
	}
	if total.Calls.Other > 0 {
		fig.Note = i18n.T(ctx, "%s denied or cancelled", i18n.Number(ctx, total.Calls.Other))
	}
	return fig
}

func errorsFigure(ctx context.Context, parts []connectors.Period, total connectors.Period, s shell.TimeRange) templates.Figure {
	failed, calls := total.Calls.Failed, total.Calls.Calls()
	fig := templates.Figure{
		Label: i18n.T(ctx, "Errors"), Value: "–", Href: "/calls?status=error", Note: i18n.T(ctx, "no calls"),
		Spark: shell.NewSparkline(parts, func(p *connectors.Period) (float64, bool) { return float64(p.Calls.Failed), true }),
		Said:  i18n.T(ctx, "Errors, %s: no calls.", i18n.T(ctx, s.InSentence)),
	}
	if calls > 0 && calls < minShare {
		fig.Value, fig.Note = i18n.Number(ctx, failed), i18n.T(ctx, "of %s", i18n.Number(ctx, calls))
		fig.Said = i18n.N(ctx, calls, "Errors, %[2]s: %[3]s of %[1]s call.", "Errors, %[2]s: %[3]s of %[1]s calls.", i18n.T(ctx, s.InSentence), fig.Value)
	} else if calls > 0 {
		fig.Value, fig.Note = formatShare(ctx, failed, calls), i18n.T(ctx, "%s of %s", i18n.Number(ctx, failed), i18n.Number(ctx, calls))
		fig.Said = i18n.N(ctx, calls, "Errors, %[2]s: %[3]s of %[1]s call, %[4]s.", "Errors, %[2]s: %[3]s of %[1]s calls, %[4]s.", i18n.T(ctx, s.InSentence), i18n.Number(ctx, failed), fig.Value)
	}
	return fig
}

// minShare is the number of calls below which a share says nothing.
const minShare = 10

// formatShare rounds up to hundredths of a percent, so that only zero is 0 %.
func formatShare(ctx context.Context, n, total int) string {
	hundredths := (n*10_000 + total - 1) / total
	return i18n.Decimal(ctx, float64(hundredths)/100) + " %"
}

func latencyFigure(ctx context.Context, parts []connectors.Period, total connectors.Period, s shell.TimeRange) templates.Figure {
	fig := templates.Figure{
		Label: i18n.T(ctx, "p95 latency"), Value: "–", Href: "/calls", Note: i18n.T(ctx, "no calls"),
		Spark: shell.NewSparkline(parts, func(p *connectors.Period) (float64, bool) {
			return float64(p.P95()), p.Calls.Latencies.Count() > 0
		}),
		Said: i18n.T(ctx, "Latency, %s: no calls.", i18n.T(ctx, s.InSentence)),
	}
	if total.Calls.Calls() > 0 {
		fig.Note = i18n.T(ctx, "no call reached a server")
	}
	if total.Calls.Latencies.Count() > 0 {
		fig.Value, fig.Note = shell.FormatDuration(ctx, total.P95()), i18n.T(ctx, "median %s", shell.FormatDuration(ctx, total.Calls.Latencies.Quantile(0.5)))
		fig.Said = i18n.T(ctx, "Latency, %s: p95 %s, median %s.", i18n.T(ctx, s.InSentence), fig.Value, shell.FormatDuration(ctx, total.Calls.Latencies.Quantile(0.5)))
	}
	return fig
}

func toolsFigure(ctx context.Context, parts []connectors.Period, f *connectors.Figures, now time.Time) templates.Figure {
	first := slices.IndexFunc(parts, func(p connectors.Period) bool { return p.Tools >= 0 })
	return templates.Figure{
		Label: i18n.T(ctx, "Tools"), Value: i18n.Number(ctx, f.Tools), Href: "/tools", Note: i18n.N(ctx, connectorCount(*f), "of %s connector", "of %s connectors"),
		Spark: shell.NewSparkline(parts, func(p *connectors.Period) (float64, bool) { return float64(p.Tools), p.Tools >= 0 }),
		Said:  i18n.T(ctx, "Tools: %s, after %s %s.", i18n.Number(ctx, f.Tools), i18n.Number(ctx, parts[first].Tools), shell.FormatRelative(ctx, parts[first].From, now)),
	}
}

func syncsFigure(ctx context.Context, parts []connectors.Period, total connectors.Period, s shell.TimeRange) templates.Figure {
	syncs := total.Syncs.OK + total.Syncs.Failed
	fig := templates.Figure{
		Label: i18n.T(ctx, "Syncs"), Value: i18n.Number(ctx, syncs), Href: "/connectors", Note: i18n.T(ctx, "none failed"),
		Spark: shell.NewSparkline(parts, func(p *connectors.Period) (float64, bool) { return float64(p.Syncs.OK + p.Syncs.Failed), true }),
		Said:  i18n.T(ctx, "Syncs, %s: %s, %s failed.", i18n.T(ctx, s.InSentence), i18n.Number(ctx, syncs), i18n.Number(ctx, total.Syncs.Failed)),
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
		When: shell.NewWhen(ctx, p.From, now), Calls: i18n.Number(ctx, p.Calls.Calls()), Failed: i18n.Number(ctx, p.Calls.Failed), P95: "–",
		Tools: "–", Syncs: i18n.Number(ctx, p.Syncs.OK+p.Syncs.Failed),
	}
	if p.Tools >= 0 {
		row.Tools = i18n.Number(ctx, p.Tools)
	}
	row.When.Text = p.From.UTC().Format(i18n.T(ctx, "Mon 2 Jan, 15:04 UTC"))
	if p.Calls.Latencies.Count() > 0 {
		row.P95 = shell.FormatDuration(ctx, p.P95())
	}
	return row
}
