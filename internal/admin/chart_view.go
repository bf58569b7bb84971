package admin

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/words"
	"patchbay/web/templates"
)

const (
	day  = 24 * time.Hour
	week = 7 * day
)

// The pictures' units: a bar with its gap is as wide as step, and a full one as high as full.
const (
	step = 4
	thin = 3
	full = 40
)

// charts draw the last day by the hour and the last week by quarters of days; nil: there was no sync.
func charts(ctx context.Context, hours []connectors.HealthHour, now time.Time) *templates.Charts {
	if connectors.WholeStretch(hours).Syncs() == 0 {
		return nil
	}
	return &templates.Charts{List: []templates.Chart{
		chart(ctx, span{title: "Last 24 hours", within: "last 24 hours", each: 1, n: 24}, "24 hours ago", hours, now),
		chart(ctx, span{title: "Last 7 days", within: "last 7 days", each: 6, n: 28}, "7 days ago", hours, now),
	}}
}

// chart draws n stretches of the given hours, up to now.
func chart(ctx context.Context, s span, from words.Key, hours []connectors.HealthHour, now time.Time) templates.Chart {
	list, title := connectors.Stretches(hours, now, s.each, s.n), words.T(ctx, s.within)
	c := templates.Chart{
		ID: title, Title: words.T(ctx, s.title), From: words.T(ctx, from), ViewBox: fmt.Sprintf("0 0 %d %d", s.n*step-1, full),
		Uptime: "–", Latency: "–", Said: words.T(ctx, "No sync in the %s.", title), Speed: words.T(ctx, "No sync in the %s.", title),
	}
	var within []connectors.HealthHour
	for _, h := range hours {
		if !h.Hour.Before(list[0].From) {
			within = append(within, h)
		}
	}
	whole := connectors.WholeStretch(within)
	for i, s := range list {
		c.Up = append(c.Up, upBars(i, s)...)
		c.Slow = append(c.Slow, slowBars(i, s, whole.Max)...)
		if s.Syncs() > 0 {
			c.Rows = append(c.Rows, chartRow(ctx, s, now))
		}
	}
	if whole.Syncs() > 0 {
		c.Uptime, c.Latency = percent(whole.Uptime), took(ctx, whole.Mean)
		c.Said = words.T(ctx, "Uptime in the %s: %s. Of %s %s failed.", title, c.Uptime, words.N(ctx, whole.Syncs(), "%s sync", "%s syncs"), words.Number(ctx, whole.Failed))
		c.Speed = words.T(ctx, "Latency in the %s: a sync took %s on average and %s at most.", title, c.Latency, took(ctx, whole.Max))
	}
	return c
}

// upBars are what worked, from the bottom, and what failed, from the top; a stroke at the bottom where nothing was tried.
func upBars(i int, s connectors.Stretch) []templates.Bar {
	if s.Syncs() == 0 {
		return []templates.Bar{bar(templates.BarNone, i, full-1, 1)}
	}
	up := s.Uptime * full
	var bars []templates.Bar
	if up > 0 {
		bars = append(bars, bar(templates.BarOK, i, full-up, up))
	}
	if down := full - up; down > 0 {
		bars = append(bars, bar(templates.BarBad, i, 0, max(down-1, 1)))
	}
	return bars
}

// slowBars are the slowest sync and, before it, the mean.
func slowBars(i int, s connectors.Stretch, most time.Duration) []templates.Bar {
	if s.Syncs() == 0 {
		return []templates.Bar{bar(templates.BarNone, i, full-1, 1)}
	}
	high := func(d time.Duration) float64 { return max(float64(d)/float64(max(most, 1))*full, 1) }
	return []templates.Bar{
		bar(templates.BarMax, i, full-high(s.Max), high(s.Max)),
		bar(templates.BarMean, i, full-high(s.Mean), high(s.Mean)),
	}
}

// unit is a length in a picture.
func unit(f float64) string { return strconv.FormatFloat(math.Round(f*10)/10, 'f', -1, 64) }

func bar(kind templates.BarKind, i int, y, height float64) templates.Bar {
	return templates.Bar{Kind: kind, X: strconv.Itoa(i * step), Y: unit(y), Width: strconv.Itoa(thin), Height: unit(height)}
}

func chartRow(ctx context.Context, s connectors.Stretch, now time.Time) templates.ChartRow {
	w := when(ctx, s.From, now)
	w.Text = s.From.Format("Mon 2 Jan, 15:04 UTC")
	return templates.ChartRow{When: w, OK: words.Number(ctx, s.OK), Failed: words.Number(ctx, s.Failed), Mean: took(ctx, s.Mean), Max: took(ctx, s.Max)}
}

// percent rounds down, so that only what never failed is 100 %.
func percent(share float64) string {
	return strconv.FormatFloat(math.Floor(share*1000)/10, 'f', -1, 64) + " %"
}
