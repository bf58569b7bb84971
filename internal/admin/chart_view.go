package admin

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/web/templates"
)

const (
	day  = 24 * time.Hour
	week = 7 * day
)

// Units of the picture. barStep is the width of a bar with its gap.
const (
	barStep   = 4
	barWidth  = 3
	barHeight = 40
)

// newCharts draws the last day by hours and the last week by quarter days; nil if there was no sync.
func newCharts(ctx context.Context, hours []connectors.HealthHour, now time.Time) *templates.Charts {
	if connectors.TotalUptime(hours).Syncs() == 0 {
		return nil
	}
	return &templates.Charts{List: []templates.Chart{
		newChart(ctx, timeRange{title: "Last 24 hours", inSentence: "last 24 hours", hoursPerPart: 1, parts: 24}, "24 hours ago", hours, now),
		newChart(ctx, timeRange{title: "Last 7 days", inSentence: "last 7 days", hoursPerPart: 6, parts: 28}, "7 days ago", hours, now),
	}}
}

// newChart draws s.parts bars of the given hours, up to now.
func newChart(ctx context.Context, s timeRange, start i18n.Key, hours []connectors.HealthHour, now time.Time) templates.Chart {
	list, title := connectors.UptimePeriods(hours, now, s.hoursPerPart, s.parts), i18n.T(ctx, s.inSentence)
	c := templates.Chart{
		ID: title, Title: i18n.T(ctx, s.title), From: i18n.T(ctx, start), ViewBox: fmt.Sprintf("0 0 %d %d", s.parts*barStep-1, barHeight),
		Uptime: "–", Latency: "–", Said: i18n.T(ctx, "No sync in the %s.", title), Speed: i18n.T(ctx, "No sync in the %s.", title),
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
		c.Uptime, c.Latency = formatPercent(total.Uptime), formatDuration(ctx, total.Mean)
		c.Said = i18n.T(ctx, "Uptime in the %s: %s. Of %s %s failed.", title, c.Uptime, i18n.N(ctx, total.Syncs(), "%s sync", "%s syncs"), i18n.Number(ctx, total.Failed))
		c.Speed = i18n.T(ctx, "Latency in the %s: a sync took %s on average and %s at most.", title, c.Latency, formatDuration(ctx, total.Max))
	}
	return c
}

// successBars draws successes from the bottom and failures from the top, or a line at the bottom if there was
// no sync.
func successBars(i int, s connectors.UptimePeriod) []templates.Bar {
	if s.Syncs() == 0 {
		return []templates.Bar{newBar(templates.BarNone, i, barHeight-1, 1)}
	}
	up := s.Uptime * barHeight
	var bars []templates.Bar
	if up > 0 {
		bars = append(bars, newBar(templates.BarOK, i, barHeight-up, up))
	}
	if down := barHeight - up; down > 0 {
		bars = append(bars, newBar(templates.BarBad, i, 0, max(down-1, 1)))
	}
	return bars
}

// latencyBars draws the slowest sync and in front of it the mean.
func latencyBars(i int, s connectors.UptimePeriod, longest time.Duration) []templates.Bar {
	if s.Syncs() == 0 {
		return []templates.Bar{newBar(templates.BarNone, i, barHeight-1, 1)}
	}
	high := func(d time.Duration) float64 { return max(float64(d)/float64(max(longest, 1))*barHeight, 1) }
	return []templates.Bar{
		newBar(templates.BarMax, i, barHeight-high(s.Max), high(s.Max)),
		newBar(templates.BarMean, i, barHeight-high(s.Mean), high(s.Mean)),
	}
}

// formatCoordinate rounds to tenths.
func formatCoordinate(f float64) string { return strconv.FormatFloat(math.Round(f*10)/10, 'f', -1, 64) }

func newBar(kind templates.BarKind, i int, y, height float64) templates.Bar {
	return templates.Bar{Kind: kind, X: strconv.Itoa(i * barStep), Y: formatCoordinate(y), Width: strconv.Itoa(barWidth), Height: formatCoordinate(height)}
}

func chartRow(ctx context.Context, s connectors.UptimePeriod, now time.Time) templates.ChartRow {
	w := newWhen(ctx, s.From, now)
	w.Text = s.From.Format("Mon 2 Jan, 15:04 UTC")
	return templates.ChartRow{When: w, OK: i18n.Number(ctx, s.OK), Failed: i18n.Number(ctx, s.Failed), Mean: formatDuration(ctx, s.Mean), Max: formatDuration(ctx, s.Max)}
}

// formatPercent rounds down, so that only a share without failures is 100 %.
func formatPercent(share float64) string {
	return strconv.FormatFloat(math.Floor(share*1000)/10, 'f', -1, 64) + " %"
}
