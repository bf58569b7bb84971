package connectors

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"time"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/web/templates"
)

// newCharts draws the last week by quarter days; nil if there was no sync.
func newCharts(ctx context.Context, hours []connectors.HealthHour, now time.Time) *templates.Charts {
	if connectors.TotalUptime(hours).Syncs() == 0 {
		return nil
	}
	return &templates.Charts{List: []templates.Chart{
		newChart(ctx, shell.TimeRange{Title: "Last 7 days", InSentence: "last 7 days", HoursPerPart: 6, Parts: 28}, "7 days ago", hours, now),
	}}
}

// newChart draws s.parts bars of the given hours, up to now.
func newChart(ctx context.Context, s shell.TimeRange, start i18n.Key, hours []connectors.HealthHour, now time.Time) templates.Chart {
	list, title := connectors.UptimePeriods(hours, now, s.HoursPerPart, s.Parts), i18n.T(ctx, s.InSentence)
	c := templates.Chart{
		ID: title, Title: i18n.T(ctx, s.Title), From: i18n.T(ctx, start), ViewBox: fmt.Sprintf("0 0 %d %d", s.Parts*shell.BarStep-1, shell.BarHeight),
		Uptime: "–", Latency: "–", Said: i18n.T(ctx, "No syncs, %s.", title), Speed: i18n.T(ctx, "No syncs, %s.", title),
	}
	var inRange []connectors.HealthHour
	for _, h := range hours {
		if !h.Hour.Before(list[0].From) {
			inRange = append(inRange, h)
		}
	}
	total := connectors.TotalUptime(inRange)
	for i, s := range list {
		c.Up = append(c.Up, successBars(i, s)...)
		c.Slow = append(c.Slow, latencyBars(i, s, total.Max)...)
		if s.Syncs() > 0 {
			c.Rows = append(c.Rows, chartRow(ctx, s, now))
		}
	}
	if total.Syncs() > 0 {
		c.Uptime, c.Latency = formatPercent(ctx, total.Uptime), shell.FormatDuration(ctx, total.Mean)
		c.Said = i18n.T(ctx, "Uptime, %s: %s. %s, %s failed.", title, c.Uptime, i18n.N(ctx, total.Syncs(), "%s sync", "%s syncs"), i18n.Number(ctx, total.Failed))
		c.Speed = i18n.T(ctx, "Latency, %s: mean %s, max %s.", title, c.Latency, shell.FormatDuration(ctx, total.Max))
	}
	return c
}

// successBars draws successes from the bottom and failures from the top, or a line at the bottom if there was
// no sync.
func successBars(i int, s connectors.UptimePeriod) []templates.Bar {
	if s.Syncs() == 0 {
		return []templates.Bar{newBar(templates.BarNone, i, shell.BarHeight-1, 1)}
	}
	up := s.Uptime * shell.BarHeight
	var bars []templates.Bar
	if up > 0 {
		bars = append(bars, newBar(templates.BarOK, i, shell.BarHeight-up, up))
	}
	if down := shell.BarHeight - up; down > 0 {
		bars = append(bars, newBar(templates.BarBad, i, 0, max(down-1, 1)))
	}
	return bars
}

// latencyBars draws the slowest sync and in front of it the mean.
func latencyBars(i int, s connectors.UptimePeriod, longest time.Duration) []templates.Bar {
	if s.Syncs() == 0 {
		return []templates.Bar{newBar(templates.BarNone, i, shell.BarHeight-1, 1)}
	}
	high := func(d time.Duration) float64 { return max(float64(d)/float64(max(longest, 1))*shell.BarHeight, 1) }
	return []templates.Bar{
		newBar(templates.BarMax, i, shell.BarHeight-high(s.Max), high(s.Max)),
		newBar(templates.BarMean, i, shell.BarHeight-high(s.Mean), high(s.Mean)),
	}
}

func newBar(kind templates.BarKind, i int, y, height float64) templates.Bar {
	return templates.Bar{Kind: kind, X: strconv.Itoa(i * shell.BarStep), Y: shell.FormatCoordinate(y), Width: strconv.Itoa(shell.BarWidth), Height: shell.FormatCoordinate(height)}
}

func chartRow(ctx context.Context, s connectors.UptimePeriod, now time.Time) templates.ChartRow {
	w := shell.NewWhen(ctx, s.From, now)
	w.Text = s.From.UTC().Format(i18n.T(ctx, "Mon 2 Jan, 15:04 UTC"))
	return templates.ChartRow{When: w, OK: i18n.Number(ctx, s.OK), Failed: i18n.Number(ctx, s.Failed), Mean: shell.FormatDuration(ctx, s.Mean), Max: shell.FormatDuration(ctx, s.Max)}
}

// formatPercent rounds down, so that only a share without failures is 100 %.
func formatPercent(ctx context.Context, share float64) string {
	return i18n.Decimal(ctx, math.Floor(share*1000)/10) + " %"
}
