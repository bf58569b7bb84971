package admin

import (
	"slices"
	"strconv"
	"time"

	"patchbay/internal/connectors"
	"patchbay/web/templates"
)

// span is a time to look back at, in parts.
type span struct {
	key, words string // "24h", "last 24 hours"
	each, n    int    // hours of a part, and parts
}

var spans = []span{
	{key: "24h", words: "last 24 hours", each: 1, n: 24},
	{key: "7d", words: "last 7 days", each: 6, n: 28},
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
func figuresView(f *connectors.Figures, s span, now time.Time) templates.Figures {
	parts := f.Periods(now, s.each, s.n)
	whole := connectors.Whole(parts)
	view := templates.Figures{
		Title: "Last" + s.words[len("last"):],
		List: []templates.Figure{
			callsFigure(parts, whole, s), errorsFigure(parts, whole, s), latencyFigure(parts, whole, s),
			toolsFigure(parts, f, now), syncsFigure(parts, whole, s),
		},
	}
	for _, one := range spans {
		text := "24 hours"
		if one.key == "7d" {
			text = "7 days"
		}
		view.Periods = append(view.Periods, templates.Period{Text: text, Href: "/?period=" + one.key, Current: one.key == s.key})
	}
	for i := len(parts) - 1; i >= 0; i-- { // the newest first
		view.Rows = append(view.Rows, figureRow(&parts[i], now))
	}
	return view
}

func callsFigure(parts []connectors.Period, whole connectors.Period, s span) templates.Figure {
	calls := whole.Calls.Calls()
	fig := templates.Figure{
		Label: "Calls", Value: number(calls), Href: "/calls", Note: number(calls/(s.each*s.n)) + " an hour",
		Spark: spark(parts, func(p *connectors.Period) (float64, bool) { return float64(p.Calls.Calls()), true }),
		Said:  "Calls in the " + s.words + ": " + number(calls) + ".",
	}
	if whole.Calls.Other > 0 {
		fig.Note = number(whole.Calls.Other) + " denied or cancelled"
	}
	return fig
}

func errorsFigure(parts []connectors.Period, whole connectors.Period, s span) templates.Figure {
	failed, calls := whole.Calls.Failed, whole.Calls.Calls()
	fig := templates.Figure{
		Label: "Errors", Value: "–", Href: "/calls?status=error", Note: "no calls",
		Spark: spark(parts, func(p *connectors.Period) (float64, bool) { return float64(p.Calls.Failed), true }),
		Said:  "Errors in the " + s.words + ": there were no calls.",
	}
	if calls > 0 {
		fig.Value, fig.Note = shareOf(failed, calls), number(failed)+" of "+number(calls)
		fig.Said = "Errors in the " + s.words + ": " + number(failed) + " of " + plural(calls, "call") + ", " + fig.Value + "."
	}
	return fig
}

// shareOf rounds up to hundredths of a percent, so that only what never happened is 0 %.
func shareOf(n, of int) string {
	hundredths := (n*10_000 + of - 1) / of
	return strconv.FormatFloat(float64(hundredths)/100, 'f', -1, 64) + " %"
}

func latencyFigure(parts []connectors.Period, whole connectors.Period, s span) templates.Figure {
	fig := templates.Figure{
		Label: "p95 latency", Value: "–", Href: "/calls", Note: "no calls",
		Spark: spark(parts, func(p *connectors.Period) (float64, bool) {
			return float64(p.P95()), p.Calls.Latencies.Count() > 0
		}),
		Said: "Latency in the " + s.words + ": no server was called.",
	}
	if whole.Calls.Latencies.Count() > 0 {
		fig.Value, fig.Note = took(whole.P95()), "median "+took(whole.Calls.Latencies.Quantile(0.5))
		fig.Said = "Latency in the " + s.words + ": 95 of 100 calls took at most " + fig.Value + ", and half of them " + took(whole.Calls.Latencies.Quantile(0.5)) + "."
	}
	return fig
}

func toolsFigure(parts []connectors.Period, f *connectors.Figures, now time.Time) templates.Figure {
	first := slices.IndexFunc(parts, func(p connectors.Period) bool { return p.Tools >= 0 })
	return templates.Figure{
		Label: "Tools", Value: number(f.Tools), Href: "/tools", Note: "of " + plural(connectorCount(*f), "connector"),
		Spark: spark(parts, func(p *connectors.Period) (float64, bool) { return float64(p.Tools), p.Tools >= 0 }),
		Said:  "Tools: " + number(f.Tools) + ", after " + number(parts[first].Tools) + " " + relative(parts[first].From, now) + ".",
	}
}

func syncsFigure(parts []connectors.Period, whole connectors.Period, s span) templates.Figure {
	syncs := whole.Syncs.OK + whole.Syncs.Failed
	fig := templates.Figure{
		Label: "Syncs", Value: number(syncs), Href: "/connectors", Note: "none failed",
		Spark: spark(parts, func(p *connectors.Period) (float64, bool) { return float64(p.Syncs.OK + p.Syncs.Failed), true }),
		Said:  "Syncs in the " + s.words + ": " + number(syncs) + ", of which " + number(whole.Syncs.Failed) + " failed.",
	}
	if whole.Syncs.Failed > 0 {
		fig.Note = number(whole.Syncs.Failed) + " failed"
	}
	if syncs == 0 {
		fig.Note = "none"
	}
	return fig
}

func figureRow(p *connectors.Period, now time.Time) templates.FigureRow {
	row := templates.FigureRow{
		When: when(p.From, now), Calls: number(p.Calls.Calls()), Failed: number(p.Calls.Failed), P95: "–",
		Tools: "–", Syncs: number(p.Syncs.OK + p.Syncs.Failed),
	}
	if p.Tools >= 0 {
		row.Tools = number(p.Tools)
	}
	row.When.Text = p.From.Format("Mon 2 Jan, 15:04 UTC")
	if p.Calls.Latencies.Count() > 0 {
		row.P95 = took(p.P95())
	}
	return row
}
