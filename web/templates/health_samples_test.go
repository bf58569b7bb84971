package templates_test

import (
	"strconv"

	"patchbay/web/templates"
)

var healthSample = []templates.HealthLine{
	{Kind: templates.StateBad, Icon: "ban", Label: "Server", Text: "Down for days", Details: []templates.HealthDetail{
		{When: &templates.When{Text: "for 20 days", Title: longAgo.Title, ISO: longAgo.ISO}}, {Text: "90 syncs in a row"}, {Text: "checked every 6 hours"},
	}},
	{Kind: templates.StateWarn, Icon: "hourglass", Label: "Authorization", Text: "Expires soon", Details: []templates.HealthDetail{{Text: "ends", When: &soon}}},
	{Kind: templates.StateOK, Icon: "circle-check", Label: "Tools", Text: "Up to date", Details: []templates.HealthDetail{{Text: "synced", When: &ago}, {Text: "next sync", When: &soon}}},
}

// chartSample has hours of success, of failures in part and in full, and without a sync.
func chartSample() *templates.Charts {
	c := templates.Chart{
		ID: "last 24 hours", Title: "Last 24 hours", From: "24 hours ago", ViewBox: "0 0 95 40", Uptime: "93.4 %", Latency: "340 ms",
		Said:  "Uptime, last 24 hours: 93.4 %. 92, syncs 7 failed.",
		Speed: "Latency, last 24 hours: mean 340 ms, max 1.2 s.",
		Rows:  []templates.ChartRow{{When: longAgo, OK: "4", Failed: "0", Mean: "340 ms", Max: "1.2 s"}},
	}
	for i := range 24 {
		x := strconv.Itoa(4 * i)
		switch i {
		case 3:
			c.Up = append(c.Up, templates.Bar{Kind: templates.BarNone, X: x, Y: "39", Width: "3", Height: "1"})
			c.Slow = append(c.Slow, templates.Bar{Kind: templates.BarNone, X: x, Y: "39", Width: "3", Height: "1"})
			continue
		case 7:
			c.Up = append(c.Up, templates.Bar{Kind: templates.BarOK, X: x, Y: "20", Width: "3", Height: "20"}, templates.Bar{Kind: templates.BarBad, X: x, Y: "0", Width: "3", Height: "19"})
		case 8:
			c.Up = append(c.Up, templates.Bar{Kind: templates.BarBad, X: x, Y: "0", Width: "3", Height: "39"})
		default:
			c.Up = append(c.Up, templates.Bar{Kind: templates.BarOK, X: x, Y: "0", Width: "3", Height: "40"})
		}
		c.Slow = append(c.Slow,
			templates.Bar{Kind: templates.BarMax, X: x, Y: strconv.Itoa(10 + i%7), Width: "3", Height: strconv.Itoa(30 - i%7)},
			templates.Bar{Kind: templates.BarMean, X: x, Y: strconv.Itoa(25 + i%5), Width: "3", Height: strconv.Itoa(15 - i%5)})
	}
	longer := c
	longer.ID, longer.Title, longer.From = "last 7 days", "Last 7 days", "7 days ago"
	return &templates.Charts{List: []templates.Chart{c, longer}}
}
