package admin

import (
	"context"
	"slices"
	"strconv"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/words"
	"patchbay/web/templates"
)

// span is a time to look back at, in parts.
type span struct {
	key     string    // "24h"
	title   words.Key // "Last 24 hours"
	within  words.Key // "last 24 hours"
	each, n int       // hours of a part, and parts
}

var spans = []span{
	{key: "24h", title: "Last 24 hours", within: "last 24 hours", each: 1, n: 24},
	{key: "7d", title: "Last 7 days", within: "last 7 days", each: 6, n: 28},
}

// stretchOf is the span that an address names; the first, where it names none.
func stretchOf(key string) span {
	for _, s := range spans {
		if s.key == key {
			return s
		}
	}
	return spans[0]
}

// figuresView draws a stretch of time.
func figuresView(ctx context.Context, f *connectors.Figures, s span, now time.Time) templates.Figures {
	parts := f.Periods(now, s.each, s.n)
	whole := connectors.Whole(parts)
	view := templates.Figures{
		Title: words.T(ctx, s.title),
		List: []templates.Figure{
			callsFigure(ctx, parts, whole, s), errorsFigure(ctx, parts, whole, s), latencyFigure(ctx, parts, whole, s),
			toolsFigure(ctx, parts, f, now), syncsFigure(ctx, parts, whole, s),
		},
	}
	if f.Since != nil {
		view.Since = new(when(ctx, *f.Since, now))
	}
	for _, one := range spans {
		text := words.T(ctx, "24 hours")
		if one.key == "7d" {
			text = words.T(ctx, "7 days")
		}
		view.Periods = append(view.Periods, templates.Period{Text: text, Href: "/?period=" + one.key, Current: one.key == s.key})
	}
	for i := len(parts) - 1; i >= 0; i-- { // the newest first
		view.Rows = append(view.Rows, figureRow(ctx, &parts[i], now))
	}
	return view
}

func callsFigure(ctx context.Context, parts []connectors.Period, whole connectors.Period, s span) templates.Figure {
	calls := whole.Calls.Calls()
	fig := templates.Figure{
		Label: words.T(ctx, "Calls"), Value: words.Number(ctx, calls), Href: "/calls", Note: words.T(ctx, "%s an hour", words.Number(ctx, calls/(s.each*s.n))),
		Spark: spark(parts, func(p *connectors.Period) (float64, bool) { return float64(p.Calls.Calls()), true }),
		Said:  words.T(ctx, "Calls in the %s: %s.", words.T(ctx, s.within), words.Number(ctx, calls)),
	}
	if whole.Calls.Other > 0 {
		fig.Note = words.T(ctx, "%s denied or cancelled", words.Number(ctx, whole.Calls.Other))
	}
	return fig
}

func errorsFigure(ctx context.Context, parts []connectors.Period, whole connectors.Period, s span) templates.Figure {
	failed, calls := whole.Calls.Failed, whole.Calls.Calls()
	fig := templates.Figure{
		Label: words.T(ctx, "Errors"), Value: "–", Href: "/calls?status=error", Note: words.T(ctx, "no calls"),
		Spark: spark(parts, func(p *connectors.Period) (float64, bool) { return float64(p.Calls.Failed), true }),
		Said:  words.T(ctx, "Errors in the %s: there were no calls.", words.T(ctx, s.within)),
	}
	if calls > 0 {
		fig.Value, fig.Note = shareOf(failed, calls), words.T(ctx, "%s of %s", words.Number(ctx, failed), words.Number(ctx, calls))
		fig.Said = words.N(ctx, calls, "Errors in the %[2]s: %[3]s of %[1]s call, %[4]s.", "Errors in the %[2]s: %[3]s of %[1]s calls, %[4]s.", words.T(ctx, s.within), words.Number(ctx, failed), fig.Value)
	}
	return fig
}

// shareOf rounds up to hundredths of a percent, so that only what never happened is 0 %.
func shareOf(n, of int) string {
	hundredths := (n*10_000 + of - 1) / of
	return strconv.FormatFloat(float64(hundredths)/100, 'f', -1, 64) + " %"
}

func latencyFigure(ctx context.Context, parts []connectors.Period, whole connectors.Period, s span) templates.Figure {
	fig := templates.Figure{
		Label: words.T(ctx, "p95 latency"), Value: "–", Href: "/calls", Note: words.T(ctx, "no calls"),
		Spark: spark(parts, func(p *connectors.Period) (float64, bool) {
			return float64(p.P95()), p.Calls.Latencies.Count() > 0
		}),
		Said: words.T(ctx, "Latency in the %s: no server was called.", words.T(ctx, s.within)),
	}
	if whole.Calls.Latencies.Count() > 0 {
		fig.Value, fig.Note = took(ctx, whole.P95()), words.T(ctx, "median %s", took(ctx, whole.Calls.Latencies.Quantile(0.5)))
		fig.Said = words.T(ctx, "Latency in the %s: 95 of 100 calls took at most %s, and half of them %s.", words.T(ctx, s.within), fig.Value, took(ctx, whole.Calls.Latencies.Quantile(0.5)))
	}
	return fig
}

func toolsFigure(ctx context.Context, parts []connectors.Period, f *connectors.Figures, now time.Time) templates.Figure {
	first := slices.IndexFunc(parts, func(p connectors.Period) bool { return p.Tools >= 0 })
	return templates.Figure{
		Label: words.T(ctx, "Tools"), Value: words.Number(ctx, f.Tools), Href: "/tools", Note: words.N(ctx, connectorCount(*f), "of %s connector", "of %s connectors"),
		Spark: spark(parts, func(p *connectors.Period) (float64, bool) { return float64(p.Tools), p.Tools >= 0 }),
		Said:  words.T(ctx, "Tools: %s, after %s %s.", words.Number(ctx, f.Tools), words.Number(ctx, parts[first].Tools), relative(ctx, parts[first].From, now)),
	}
}

func syncsFigure(ctx context.Context, parts []connectors.Period, whole connectors.Period, s span) templates.Figure {
	syncs := whole.Syncs.OK + whole.Syncs.Failed
	fig := templates.Figure{
		Label: words.T(ctx, "Syncs"), Value: words.Number(ctx, syncs), Href: "/connectors", Note: words.T(ctx, "none failed"),
		Spark: spark(parts, func(p *connectors.Period) (float64, bool) { return float64(p.Syncs.OK + p.Syncs.Failed), true }),
		Said:  words.T(ctx, "Syncs in the %s: %s, of which %s failed.", words.T(ctx, s.within), words.Number(ctx, syncs), words.Number(ctx, whole.Syncs.Failed)),
	}
	if whole.Syncs.Failed > 0 {
		fig.Note = words.T(ctx, "%s failed", words.Number(ctx, whole.Syncs.Failed))
	}
	if syncs == 0 {
		fig.Note = words.T(ctx, "none")
	}
	return fig
}

func figureRow(ctx context.Context, p *connectors.Period, now time.Time) templates.FigureRow {
	row := templates.FigureRow{
		When: when(ctx, p.From, now), Calls: words.Number(ctx, p.Calls.Calls()), Failed: words.Number(ctx, p.Calls.Failed), P95: "–",
		Tools: "–", Syncs: words.Number(ctx, p.Syncs.OK+p.Syncs.Failed),
	}
	if p.Tools >= 0 {
		row.Tools = words.Number(ctx, p.Tools)
	}
	row.When.Text = p.From.Format("Mon 2 Jan, 15:04 UTC")
	if p.Calls.Latencies.Count() > 0 {
		row.P95 = took(ctx, p.P95())
	}
	return row
}
