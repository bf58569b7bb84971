package admin

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"patchbay/internal/connectors"
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
func charts(hours []connectors.HealthHour, now time.Time) *templates.Charts {
	if connectors.WholeStretch(hours).Syncs() == 0 {
		return nil
	}
	return &templates.Charts{List: []templates.Chart{
		chart("last 24 hours", "24 hours ago", hours, now, 1, 24),
		chart("last 7 days", "7 days ago", hours, now, 6, 28),
	}}
}

// chart draws n stretches of the given hours, up to now.
func chart(title, from string, hours []connectors.HealthHour, now time.Time, each, n int) templates.Chart {
	list := connectors.Stretches(hours, now, each, n)
	c := templates.Chart{
		ID: title, Title: "Last" + title[len("last"):], From: from, ViewBox: fmt.Sprintf("0 0 %d %d", n*step-1, full),
		Uptime: "–", Latency: "–", Said: "No sync in the " + title + ".", Speed: "No sync in the " + title + ".",
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
			c.Rows = append(c.Rows, chartRow(s, now))
		}
	}
	if whole.Syncs() > 0 {
		c.Uptime, c.Latency = percent(whole.Uptime), took(whole.Mean)
		c.Said = fmt.Sprintf("Uptime in the %s: %s. Of %s %s failed.", title, c.Uptime, plural(whole.Syncs(), "sync"), number(whole.Failed))
		c.Speed = fmt.Sprintf("Latency in the %s: a sync took %s on average and %s at most.", title, c.Latency, took(whole.Max))
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

func chartRow(s connectors.Stretch, now time.Time) templates.ChartRow {
	w := when(s.From, now)
	w.Text = s.From.Format("Mon 2 Jan, 15:04 UTC")
	return templates.ChartRow{When: w, OK: number(s.OK), Failed: number(s.Failed), Mean: took(s.Mean), Max: took(s.Max)}
}

// percent rounds down, so that only what never failed is 100 %.
func percent(share float64) string {
	return strconv.FormatFloat(math.Floor(share*1000)/10, 'f', -1, 64) + " %"
}
