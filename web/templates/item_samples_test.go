package templates_test

import (
	"github.com/a-h/templ"

	"patchbay/web/templates"
)

// itemSamples adds the pages of prompts and resources, with rows and without.
func itemSamples(
	pages map[string]templ.Component, connector func(title string) templates.Frame, head func(templates.ConnectorTab, templates.State) templates.ConnectorHead, agent templates.Frame,
) {
	prompts := templates.ItemTable{Title: "Prompts", First: "Name", Count: "2 prompts", Rows: []templates.ItemRow{
		{Key: "triage", Title: "Triage an issue", About: "Sorts an issue into a team.", Details: []string{"Arguments: issue, team (optional)"}, Changed: &ago},
		{Key: "a_prompt_with_a_name_that_is_as_long_as_names_may_be_and_a_little_more", Badges: []templates.Badge{{Kind: templates.BadgeWarn, Text: "malformed"}}, Changed: &longAgo},
	}}
	resources := templates.ItemTable{Title: "Resources", First: "URI", Count: "1 resource", Rows: []templates.ItemRow{
		{Key: "file:///docs/readme.md", Title: "Read me", Details: []string{"text/markdown", "4 KB"}, Changed: &ago},
	}}
	all := templates.ItemTable{Title: "Resource templates", First: "URI template", Count: "1 resource template", Rows: []templates.ItemRow{{Key: "file:///docs/{name}", Changed: &ago}}}
	pages["connector-prompts"] = templates.ConnectorPrompts(templates.ConnectorPromptsPage{
		Frame: connector("Prompts"), Head: head(templates.TabPrompts, stateOK), Prompts: prompts, Synced: true,
		Pager: templates.Pager{First: "/connectors/linear/prompts", Next: "/connectors/linear/prompts?cursor=x"},
	})
	pages["connector-prompts-none"] = templates.ConnectorPrompts(templates.ConnectorPromptsPage{Frame: connector("Prompts"), Head: head(templates.TabPrompts, stateOK), Synced: true})
	pages["connector-prompts-filtered"] = templates.ConnectorPrompts(templates.ConnectorPromptsPage{Frame: connector("Prompts"), Head: head(templates.TabPrompts, stateOK), Filtered: true})
	pages["connector-resources"] = templates.ConnectorResources(templates.ConnectorResourcesPage{
		Frame: connector("Resources"), Head: head(templates.TabResources, stateOK), Resources: resources, Templates: all, Synced: true, More: "Only the first 200 are shown.",
	})
	pages["connector-resources-never"] = templates.ConnectorResources(templates.ConnectorResourcesPage{Frame: connector("Resources"), Head: head(templates.TabResources, stateBusy)})
	prompts.Rows = []templates.ItemRow{{Key: "mcp_linear__triage", Title: "Triage an issue", Connector: "Linear", Href: "/agents/support/connectors/linear", State: stateOK}}
	pages["agent-items"] = templates.AgentItems(templates.AgentItemsPage{Frame: agent, Head: agentHead(templates.AgentItemsTab), Prompts: prompts, Resources: resources})
	pages["agent-items-none"] = templates.AgentItems(templates.AgentItemsPage{Frame: agent, Head: agentHead(templates.AgentItemsTab)})
}
