package templates_test

import (
	"github.com/a-h/templ"

	"patchbay/web/templates"
)

// startSamples are the pages of the first hour after a connector was added.
func startSamples(pages map[string]templ.Component, f templates.Frame) {
	approvals := []templates.Option{{Value: "always_ask", Label: "Ask every time"}, {Value: "auto", Label: "Never ask"}}
	setup := templates.AgentSetup{Approvals: approvals, Choices: []templates.SetupChoice{{Slug: "linear", Name: "Linear"}}, Fixed: true}
	start := templates.ConnectorStartPage{
		Frame: f, Name: "Linear", Href: "/connectors/linear", Mark: templates.Mark{Initial: "L"}, Line: "40 tools", More: "All 40 tools", Setup: setup,
		Tools:  []templates.ToolView{{Name: "create_issue", Description: "Creates an issue.", Href: "/connectors/linear/tools/create_issue"}},
		Agents: []templates.Link{{Text: "Support", Href: "/agents/support/connectors/linear"}},
	}
	pages["connector-start"] = templates.ConnectorStart(start)
	start.Syncing, start.Tools, start.More = true, nil, ""
	pages["connector-start-syncing"] = templates.ConnectorStart(start)
	start.Syncing = false
	start.Problem = &templates.Attention{Kind: templates.StateBad, Title: "Sync failed", Text: "The server can't be reached.", Action: &templates.Link{Text: "Open settings", Href: "/connectors/linear/settings"}}
	pages["connector-start-failed"] = templates.ConnectorStart(start)
	setup.Fixed = false
	setup.Choices = append(setup.Choices, templates.SetupChoice{Slug: "github", Name: "GitHub", Tools: "12 tools", Mark: templates.Mark{Initial: "G"}, Chosen: true})
	pages["agent-setup"] = templates.SetUpAgent(templates.AgentSetupPage{Frame: f, Setup: setup})
	setup.Form = templates.Form{Errors: map[string]string{"name": "Enter a name.", "connector": "Select at least one connector."}}
	pages["agent-setup-wrong"] = templates.SetUpAgent(templates.AgentSetupPage{Frame: f, Setup: setup})
	setup.Choices = nil
	pages["agent-setup-empty"] = templates.SetUpAgent(templates.AgentSetupPage{Frame: f, Setup: setup})
	pages["agent-ready"] = templates.AgentReady(templates.AgentReadyPage{
		Frame: f, Name: "Support", Href: "/agents/support", Token: templates.NewAPIKey{Name: "Support", Token: "pb_agent_x"},
		Snippets: []templates.Snippet{{Client: "Claude Code", Where: "Run in a terminal.", Text: "claude mcp add", Open: true}},
	})
}
