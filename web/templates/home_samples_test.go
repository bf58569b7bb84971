package templates_test

import (
	"github.com/a-h/templ"

	"patchbay/web/templates"
)

// homeSamples are the home pages of a used, a quiet and an empty installation, also as a viewer sees them.
func homeSamples(pages map[string]templ.Component, with func(templates.Frame) templates.Frame) {
	f := with(frame("Home", templates.NavHome))
	f.Listen = "/events?on=home"
	pages["home"] = templates.Home(templates.HomePage{Frame: f, Needs: needsSample(f.Asset), Figures: figuresSample()})
	pages["home-quiet"] = templates.Home(templates.HomePage{Frame: f, Needs: templates.Needs{Asset: f.Asset}, Figures: figuresSample()})
	steps := templates.FirstSteps{Asset: f.Asset, Count: "1 of 4 done", Steps: []templates.FirstStep{
		{Title: "Connect a server", Done: true},
		{Title: "Create an agent", Text: "Grant its access and create a token in the same form.", Next: true, Actions: []templates.Link{{Text: "Set up an agent", Href: "/start/agent"}, {Text: "Add agent", Href: "/agents/new"}}},
		{Title: "Give it access"}, {Title: "Connect a client"},
	}}
	pages["home-started"] = templates.Home(templates.HomePage{Frame: f, Steps: steps, Needs: templates.Needs{Asset: f.Asset}, Figures: figuresSample()})
	pages["home-empty"] = templates.Home(templates.HomePage{Frame: f, Welcome: true, Steps: steps})
	startSamples(pages, f)
	pages["home-empty-viewer"] = templates.Home(templates.HomePage{Frame: asViewer(f), Welcome: true})
}

func needsSample(asset templates.Assets) templates.Needs {
	group := func(id, title, icon string, kind templates.StateKind, count string, rows ...templates.NeedRow) templates.NeedGroup {
		return templates.NeedGroup{
			ID: id, Title: title, Icon: icon, Kind: kind, Count: count, Rows: rows, All: templates.Link{Text: "All connectors", Href: "/connectors"},
		}
	}
	return templates.Needs{Asset: asset, Count: "14", Groups: []templates.NeedGroup{
		group("needs-approval", "Calls waiting for approval", "stamp", templates.StateWarn, "1", templates.NeedRow{
			Name: "create_issue", Mono: true, Line: "Support asks GitHub", Since: "asked", When: ago,
			Action: templates.Link{Text: "Review call", Href: "/approvals/1"},
		}),
		group("needs-authorization", "Connectors need authorization", "key-round", templates.StateBad, "12", templates.NeedRow{
			Name: "Sentry", Line: "The server refused the token. Connect the account again.", When: templates.When{Text: "for 20 days", Title: longAgo.Title, ISO: longAgo.ISO},
			Action: templates.Link{Text: "Reconnect", Href: "/connectors/sentry/credentials#credential-shared"},
		}),
		group("needs-renewal", "Expiring accounts", "hourglass", templates.StateWarn, "1", templates.NeedRow{
			Name: "Linear", Line: "Support's account", Since: "ends", When: soon,
			Action: templates.Link{Text: "Reconnect", Href: "/connectors/linear/credentials#credential-support"},
		}),
	}}
}

func figuresSample() templates.Figures {
	s := templates.Sparkline{ViewBox: "0 0 92 40", Line: "M0 30L4 20L8 25M16 10h0.1", Area: "M0 40L0 30L4 20L8 25L8 40Z"}
	return templates.Figures{
		Title:   "Last 24 hours",
		Periods: []templates.Period{{Text: "24 hours", Href: "/?period=24h", Current: true}, {Text: "7 days", Href: "/?period=7d"}},
		List: []templates.Figure{
			{Label: "Calls", Value: "12,480", Note: "3 denied or cancelled", Href: "/calls", Said: "Calls, last 24 hours: 12,480.", Spark: s},
			{Label: "Errors", Value: "0.42 %", Note: "52 of 12,480", Href: "/calls?status=error", Said: "Errors, last 24 hours: 52 of 12,480 calls.", Spark: s},
			{Label: "p95 latency", Value: "640 ms", Note: "median 120 ms", Href: "/calls", Said: "Latency, last 24 hours: p95 640 ms.", Spark: s},
			{Label: "Tools", Value: "148", Note: "of 7 connectors", Href: "/tools", Said: "Tools: 148.", Spark: s},
			{Label: "Syncs", Value: "672", Note: "none failed", Href: "/connectors", Said: "Syncs, last 24 hours: 672.", Spark: s},
		},
		Rows: []templates.FigureRow{{When: ago, Calls: "520", Failed: "2", P95: "640 ms", Tools: "148", Syncs: "28"}},
	}
}
