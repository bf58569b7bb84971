package templates_test

import (
	"github.com/a-h/templ"

	"patchbay/web/templates"
)

// quotaSamples are quotas that are used: a bar with nothing refused, one that is full, and a count alone.
var quotaSamples = []templates.QuotaBar{
	{Said: "512 of 1,000 calls today", Value: "512", Max: "1000", High: "800"},
	{Of: "linear/create_issue", Href: "/connectors/linear/tools/create_issue", Said: "60 of 60 calls this minute", Value: "60", Max: "60", High: "48", Over: "3 calls refused today"},
	{Of: "Whole organisation", Said: "7 calls today"},
}

// curateSamples are the pages about what an admin says of tools, and about one sync run.
func curateSamples(pages map[string]templ.Component, with func(templates.Frame) templates.Frame, tools []templates.ToolView, head func(templates.ConnectorTab) templates.ConnectorHead) {
	f := with(frame("Tools", templates.NavConnectors, inConnectors))
	said := tools[0]
	said.Alias, said.AgentText, said.Chosen = "open.ticket", "Opens a ticket in our own tracker.", true
	said.Badges = append([]templates.Badge{{Kind: templates.BadgeWarn, Text: "disabled"}, {Text: "re-described"}, {Text: "#billing"}}, said.Badges...)
	options := func(first string, more ...string) []templates.Option {
		list := []templates.Option{{Label: first}}
		for _, m := range more {
			list = append(list, templates.Option{Value: m, Label: m})
		}
		return list
	}
	pages["connector-tools-curated"] = templates.ConnectorTools(templates.ConnectorToolsPage{
		Frame: f, Head: head(templates.TabTools), Rows: append([]templates.ToolView{said}, tools[1:]...), Count: "3 tools", Synced: true, Filtered: true,
		Filter: templates.Form{Values: map[string]string{"q": "issue", "state": "Disabled"}},
		States: options("Any state", "Enabled", "Disabled"), Hints: options("Any annotation", "Read-only"), Tags: options("Any tag", "billing"),
		Bulk: &templates.ToolBulk{Action: "/connectors/linear/tools", ReturnTo: "/connectors/linear/tools?q=issue", AllHref: "/connectors/linear/tools?choose=all&q=issue"},
	})
	form := templates.Form{
		Values: map[string]string{"enabled": "true", "alias": "open ticket", "agent_description": said.AgentText, "tags": "billing", "calls_per_minute": "60", "calls_per_day": "0"},
		Errors: map[string]string{"alias": "Use 1–128 unaccented letters, digits, underscores, hyphens or dots."},
	}
	tool := templates.ToolPage{Frame: f, Tool: said, Curate: templates.Curate{
		Form: form, Action: "/connectors/linear/tools/create_issue/curate", Name: "create_issue", Exposed: "mcp_linear__open_ticket_12345678", Can: true, Used: quotaSamples,
	}}
	pages["tool-curated"] = templates.Tool(tool)
	tool.Curate.Can, tool.Curate.Facts = false, []templates.Fact{{Label: "Available to agents", Value: "yes"}, {Label: "Name", Value: "open.ticket", Mono: true}}
	pages["tool-curated-seen"] = templates.Tool(tool)
	bars := []templates.Bar{{Kind: templates.BarNone, X: "0", Y: "4.5", Width: "200", Height: "1"}, {Kind: templates.BarOK, X: "20", Y: "1", Width: "60", Height: "8"}}
	run := templates.RunPage{
		Frame: f, Head: head(templates.TabOverview), Title: "Sync of 21 Nov 2026, 10:12:09 UTC", State: templates.State{Kind: templates.StateBad, Text: "Failed"},
		Error: &templates.Attention{Kind: templates.StateBad, Title: "Failed", Text: "The server answered 503."}, ViewBox: "0 0 200 10", Total: "3 requests · 820 ms · 12.0 KiB received",
		Facts: []templates.Fact{{Label: "Started by", Value: "Manual"}, {Label: "Duration", Value: "1.2 s"}},
		Requests: []templates.RequestRow{
			{Name: "Initialize", Call: "POST initialize", Era: "handshake", Status: templates.State{Kind: templates.StateOK, Text: "200"}, Started: "+0 ms", Took: "120 ms", Sent: "210 bytes", Received: "1.2 KiB", Bars: bars},
			{Name: "List tools, page 2", Call: "POST tools/list", Era: "handshake", Status: templates.State{Kind: templates.StateBad, Text: "503"}, Started: "+140 ms", Took: "680 ms", Sent: "80 bytes", Received: "0 bytes", Bars: bars},
		},
		Left: "12 more requests in between.",
	}
	pages["connector-run"] = templates.Run(run)
	run.Requests, run.Error, run.Left, run.Total, run.None = nil, nil, "", "", "Requests of scheduled syncs without changes aren't stored."
	pages["connector-run-empty"] = templates.Run(run)
}
