package templates_test

import (
	"slices"
	"strings"

	"github.com/a-h/templ"

	"patchbay/web/templates"
)

var (
	stateEnabled = templates.State{Kind: templates.StateOK, Text: "Enabled"}
	approvals    = []templates.Option{{Value: "always_ask", Label: "Ask every time"}, {Value: "trusted_only", Label: "Ask, except for trusted tools"}, {Value: "auto", Label: "Never ask"}}
	histories    = []templates.Option{{Value: "none", Label: "Nothing"}, {Value: "redacted", Label: "Without what looks like a secret"}, {Value: "full", Label: "Everything"}}
	inAgents     = templates.Crumb{Text: "Agents", Href: "/agents"}
)

func agentHead(tab templates.AgentTab) templates.AgentHead {
	return templates.AgentHead{Slug: "support", Name: "Support", Initial: "S", Description: "Answers customers", Href: "/agents/support", Tab: tab, State: stateEnabled}
}

var grantRows = []templates.GrantRow{
	{Connector: "Linear", Mark: templates.Mark{Initial: "L"}, Href: "/agents/support/connectors/linear", State: stateOK, Tools: "3 of 23 tools", Tokens: "1,240", Approval: "Ask, except for trusted tools"},
	{Connector: "GitHub", Mark: templates.Mark{Initial: "G"}, Href: "/agents/support/connectors/github", State: stateBad, Tools: "All 42 tools", Approval: "Ask every time"},
}

func grantPage(f templates.Frame) templates.GrantPage {
	tools := []templates.GrantTool{
		{Name: "create_issue", Shown: "create_issue", Title: "Create issue", About: "Create a new issue in a team, with a title, a description and labels. Returns the issue's identifier.", Granted: true, Effect: "destructive", Tokens: 180, Size: "180 tokens", Now: templates.State{Kind: templates.StateWarn, Text: "Calls need approval."}, WhyHref: "/agents/support/tools/mcp_linear__create_issue", Badges: []templates.Badge{{Kind: templates.BadgeRisk, Text: "destructive"}, {Text: "open world"}}},
		{Name: "list_issues", Shown: "list_issues", Title: "List issues", About: "List issues by team, state, assignee or label.", Granted: true, Trusted: true, Effect: "read_only", Tokens: 96, Size: "96 tokens", Now: templates.State{Kind: templates.StateOK, Text: "Calls run without approval."}, WhyHref: "/agents/support/tools/mcp_linear__list_issues", Badges: []templates.Badge{{Kind: templates.BadgeGood, Text: "read-only"}}},
		{Name: "move_project", Shown: "move_project", Effect: "unsaid", Now: templates.State{Kind: templates.StateBad, Text: "Accept this new tool on its page."}, WhyHref: "/agents/support/tools/mcp_linear__move_project", Badges: []templates.Badge{{Kind: templates.BadgeWarn, Text: "new", Title: "Not available to agents yet."}}},
		{Name: "archive_project", Shown: "archive_project", About: "Archive a project.", Granted: true, Badges: []templates.Badge{{Kind: templates.BadgeWarn, Text: "removed"}}},
		{Name: "a_tool_with_a_name_that_is_as_long_as_names_of_tools_may_be_and_then_a_little_more_of_it", Shown: "a_tool_with_a_name_that_is_as_long_as_names_of_tools_may_be_and_then_a_little_more_of_it", About: "Long."},
	}
	return templates.GrantPage{
		Frame: f, Head: agentHead(templates.AgentAccessTab), Connector: "Linear", ToolsHref: "/connectors/linear/tools", Action: "/agents/support/connectors/linear",
		Granted: true, Form: templates.Form{Values: map[string]string{"all": "false", "approval": "trusted_only"}},
		Approvals: append([]templates.Option{{Label: "Agent default: ask every time"}}, approvals...), Tools: tools, Count: "3 of 23 chosen, about 410 tokens", Estimate: "Tokens are an estimate.", Effects: []templates.Option{{Label: "Any effect (5)"}, {Value: "read_only", Label: "Read-only (1)"}},
		Reaches: []templates.GrantLink{
			{Connector: "GitHub", Href: "/agents/support/connectors/github", Tools: "All 42 tools", Approval: "Ask every time"},
			{Connector: "Linear", Href: "/agents/support/connectors/linear", Tools: "3 of 23 tools", Approval: "Ask, except for trusted tools", Here: true},
		}, Goes: []string{"3 tools", "its approval rule"},
		PromptChoices: []templates.Option{{Value: "none", Label: "None"}, {Value: "listed", Label: "All listed"}}, ResourceChoices: []templates.Option{{Value: "none", Label: "None"}},
		ItemNotes: []string{"Includes: prompts."},
	}
}

func agentConnect(f templates.Frame) templates.AgentConnectPage {
	return templates.AgentConnectPage{
		Frame: f, Head: agentHead(templates.AgentConnectTab), Count: "2 tokens",
		Addresses: []templates.Fact{{Label: "All tools", Value: "https://patchbay.example.com/mcp", Mono: true, Copy: true}, {Label: "Linear alone", Value: "https://patchbay.example.com/mcp/linear", Mono: true, Copy: true}},
		Tokens: []templates.AgentTokenRow{
			{Name: "laptop", Prefix: "pb_agent_0189aaaa", State: templates.State{Kind: templates.StateOK, Text: "Active"}, Created: longAgo, LastUsed: ago, Expires: never, Revoke: "/agents/support/tokens/1/revoke"},
			{Name: "a token with a name that goes on", Prefix: "pb_agent_0188bbbb", State: templates.State{Kind: templates.StateOff, Text: "Expired"}, Created: longAgo, LastUsed: never, Expires: longAgo, Revoke: "/agents/support/tokens/2/revoke"},
		},
		WorkloadKinds: []templates.Option{{Value: "github", Label: "GitHub Actions"}, {Value: "kubernetes", Label: "Kubernetes"}, {Value: "other", Label: "Other"}},
		TokenRequest:  "curl https://patchbay.example.com/oauth/token \\\n  -d client_id=0189aaaa-0000-7000-8000-000000000000",
		Workloads: []templates.WorkloadRow{
			{Name: "deploy", Issuer: "https://token.actions.githubusercontent.com", Subject: "repo:acme/app:ref:refs/heads/main", ClientID: "0189aaaa-0000-7000-8000-000000000000", LastUsed: ago, Remove: "/agents/support/workloads/1/remove"},
		},
		Snippets: []templates.Snippet{
			{Client: "Claude Code", Where: "Run in a terminal.", Text: "claude mcp add --transport http patchbay https://patchbay.example.com/mcp --header \"Authorization: Bearer pb_agent_…\"", Open: true},
			{Client: "Cursor", Where: "Add this to ~/.cursor/mcp.json.", Text: "{\n  \"mcpServers\": {\n    \"patchbay\": {\n      \"url\": \"https://patchbay.example.com/mcp\"\n    }\n  }\n}"},
		},
	}
}

func agentSamples(pages map[string]templ.Component, with func(templates.Frame) templates.Frame) {
	f := with(frame("Agents", templates.NavAgents))
	pages["agents"] = templates.Agents(templates.AgentsPage{Frame: f, Count: "2 agents", Rows: []templates.AgentRow{
		{Name: "Support", Slug: "support", Href: "/agents/support", Initial: "S", State: stateEnabled, Trouble: "Sentry: no account", Approval: "Ask every time", Connectors: "3", Tools: "45", Seen: ago, Calls: "1,000+", Failed: "3 errors", CallsHref: "/calls?agent=support"},
		{Name: "Billing", Slug: "billing", Href: "/agents/billing", Initial: "B", State: stateOff, Approval: "Never ask", Connectors: "0", Tools: "0", Calls: "0", Seen: templates.When{Text: "never"}},
	}})
	pages["agents-empty"] = templates.Agents(templates.AgentsPage{Frame: f})
	pages["agent-new"] = templates.AgentForm(templates.AgentFormPage{Frame: with(frame("Add agent", templates.NavAgents, inAgents)), Approvals: approvals})

	f = with(frame("Support", templates.NavAgents, inAgents))
	missing := templates.State{Kind: templates.StateOff, Text: "Not set"}
	overview := templates.AgentPage{
		Frame: f, Head: agentHead(templates.AgentOverviewTab),
		Stats:  []templates.Stat{{Label: "Tools", Value: "45", Href: "/agents/support/tools"}, {Label: "Connectors", Value: "2", Href: "/agents/support/access"}, {Label: "Approval", Value: "Ask every time"}, {Label: "Last seen", When: &ago}},
		Facts:  []templates.Fact{{Label: "Slug", Value: "support", Mono: true, Copy: true}, {Label: "Added", When: &longAgo}},
		Grants: grantRows, Calls: callRows, CallsHref: "/calls?agent=support",
		Credentials: []templates.AgentCredential{{Connector: "GitHub", Href: "/connectors/github/credentials", State: stateOK}, {Connector: "Sentry", Href: "/connectors/sentry/credentials", State: missing}},
	}
	pages["agent"] = templates.Agent(overview)
	overview.Grants, overview.Calls, overview.Credentials = nil, nil, nil
	overview.Attention = []templates.Attention{{Kind: templates.StateWarn, Title: "No token", Text: "No program can come as this agent.", Action: &templates.Link{Text: "Create token", Href: "/agents/support/connect"}}}
	pages["agent-fresh"] = templates.Agent(overview)
	pages["agent-settings"] = templates.AgentSettings(templates.AgentSettingsPage{
		Frame: f, Head: agentHead(templates.AgentSettingsTab), Approvals: approvals, Goes: []string{"its tokens", "1 credential"}, ToolLists: []templates.Option{{Value: "full", Label: "Full: all tools"}},
		Form: templates.Form{Values: map[string]string{"name": "Support", "slug": "support", "approval": "auto", "name_limit": "64", "calls_per_minute": "0", "enabled": "true"}, Errors: map[string]string{"name_limit": "Must be 64–128 characters."}},
	})
	accessSamples(pages, f)
	connecting := agentConnect(f)
	pages["agent-connect"] = templates.AgentConnect(connecting)
	connecting.New = &templates.NewAPIKey{Name: "laptop", Token: "pb_agent_0189aaaabbbbccccddddeeeeffff0000_exampleexampleexampleexample_abc123"}
	connecting.Tokens = nil
	pages["agent-connect-new"] = templates.AgentConnect(connecting)
}

func accessSamples(pages map[string]templ.Component, f templates.Frame) {
	rows := append(slices.Clone(grantRows), templates.GrantRow{Connector: "Sentry", Mark: templates.Mark{Initial: "S"}, Href: "/agents/support/connectors/sentry", State: stateOff, Tools: "17 tools"})
	kinds := []templates.Option{{Label: "Any access"}, {Value: "granted", Label: "Granted"}}
	pages["agent-access"] = templates.AgentAccess(templates.AgentAccessPage{Frame: f, Head: agentHead(templates.AgentAccessTab), Kinds: kinds, Tags: kinds, Approvals: kinds, ReturnTo: "/agents/support/access", AllHref: "/agents/support/access?choose=all", Rows: rows, Count: "3 connectors"})
	pages["agent-access-none"] = templates.AgentAccess(templates.AgentAccessPage{Frame: f, Head: agentHead(templates.AgentAccessTab), Filter: templates.Form{Values: map[string]string{"q": "zebra"}}, Kinds: kinds, Filtered: true, Count: "0 connectors"})
	matrix := templates.AccessMatrixPage{
		Frame: f, Columns: []templates.MatrixColumn{{Name: "Linear", Href: "/connectors/linear/access"}, {Name: "Sentry", Href: "/connectors/sentry/access"}},
		Rows: []templates.MatrixRow{{Name: "Support", Href: "/agents/support/access", Cells: []templates.MatrixCell{
			{Kind: templates.MatrixAll, Text: "All", Label: "Support, Linear: All tools", Href: "/agents/support/connectors/linear"},
			{Kind: templates.MatrixNone, Text: "–", Label: "Support, Sentry: No access", Href: "/agents/support/connectors/sentry"},
		}}},
		AgentPager: templates.Pager{From: 51, To: 56, Total: 56, Previous: "/access"}, ConnectorPager: templates.Pager{From: 1, To: 20, Total: 303, Next: "/access?connectors=20"},
	}
	accessRequestSamples(pages, f)
	pages["access-matrix"] = templates.AccessMatrix(matrix)
	pages["access-matrix-none"] = templates.AccessMatrix(templates.AccessMatrixPage{Frame: f, Filtered: true})
	pages["grant"] = templates.Grant(grantPage(f))
	all := grantPage(f)
	all.Form.Values, all.Granted = map[string]string{"all": "true"}, false
	pages["grant-all"] = templates.Grant(all)
	pages["grant-viewer"] = templates.Grant(grantPage(asViewer(f)))
	summary := templates.UnusedSummary{Title: "34 of 52 tools unused in 30 days", Text: "Without them each request has about 11,200 tokens less.", Warn: true, Review: "/agents/support/unused"}
	pages["agent-unused"] = templates.Unused(unusedPage(f, summary))
	pages["agent-unused-viewer"] = templates.Unused(unusedPage(asViewer(f), summary))
	pages["agent-unused-none"] = templates.Unused(templates.UnusedPage{
		Frame: f, Head: agentHead(templates.AgentToolsTab), Action: "/agents/support/unused", Summary: templates.UnusedSummary{Title: "Every tool was called in 30 days", Text: "Nothing to remove."},
	})
	summary.Later = "/agents/support/unused?part=summary"
	sees := templates.AgentToolsPage{Frame: f, Head: agentHead(templates.AgentToolsTab), Count: "45 tools", Unused: &summary, Estimate: "Tokens are an estimate.",
		List: &templates.ToolListPanel{
			Text: "Full: all tools.", Facts: []templates.Fact{{Label: "Full list", Value: "≈ 11,240 tokens"}, {Label: "Lean list", Value: "≈ 900 tokens"}},
			Change: &templates.Link{Text: "Change in settings", Href: "/agents/support/settings"}, Words: "open an issue", Count: "1 tool found",
			Results: []templates.ToolSearchRow{{Exposed: "mcp_linear__create_issue", Title: "Create issue", Href: "/agents/support/tools/mcp_linear__create_issue", Reasons: "“issue” in the name", CallWith: "call_writing"}},
		},
		Stats:     []templates.Stat{{Label: "Tools available", Value: "45"}, {Label: "Tokens, OpenAI", Value: "≈ 11,240", Href: "/agents/support/tools?provider=openai"}},
		Providers: []templates.Option{{Value: "openai", Label: "Tokens for OpenAI"}}, Sorts: []templates.Option{{Label: "By connector"}, {Value: "size", Label: "Largest first"}}, Rows: []templates.AgentToolRow{
			{Exposed: "mcp_linear__create_issue", Title: "Create issue", Href: "/agents/support/tools/mcp_linear__create_issue", Connector: "Linear", ConnectorHref: "/agents/support/connectors/linear", State: templates.State{Kind: templates.StateWarn, Text: "Needs approval"}, Badges: toolViews[0].Badges, Pin: templates.PinForm{Action: "/agents/support/pins", Connector: "linear", Tool: "create_issue", ReturnTo: "/agents/support/tools"}},
			{Exposed: "mcp_linear__list_issues", Title: "List issues", Href: "/agents/support/tools/mcp_linear__list_issues", Connector: "Linear", ConnectorHref: "/agents/support/connectors/linear", State: templates.State{Kind: templates.StateOK, Text: "Callable"}, Tokens: "96", Badges: toolViews[1].Badges, Pin: templates.PinForm{Action: "/agents/support/pins", Connector: "linear", Tool: "list_issues", Pinned: true, ReturnTo: "/agents/support/tools"}},
			{Exposed: "mcp_" + strings.Repeat("long_", 11) + "__x", Href: "/agents/support/tools/x", Connector: "Linear", ConnectorHref: "/agents/support/connectors/linear", State: templates.State{Kind: templates.StateBad, Text: "Held"}},
		}}
	pages["agent-tools"] = templates.AgentTools(sees)
	sees.Rows, sees.Filter.Values, sees.Count = nil, map[string]string{"q": "mcp_linear__nothing/x"}, "0 tools"
	pages["agent-tools-none"] = templates.AgentTools(sees)
	pages["agent-why"] = templates.AgentTool(templates.AgentToolPage{
		Frame: f, Head: agentHead(templates.AgentToolsTab), Exposed: "mcp_linear__create_issue", State: templates.State{Kind: templates.StateBad, Text: "Held"},
		Why: "The server changed the tool's definition. The change needs review.", Advice: "Compare the two definitions, and accept or reject the new one. Until then calls are refused.",
		Links: []templates.Link{{Text: "Open tool", Href: "/connectors/linear/tools/create_issue"}, {Text: "Change access", Href: "/agents/support/connectors/linear"}},
		Facts: []templates.Fact{{Label: "Connector", Value: "Linear", Href: "/connectors/linear"}, {Label: "Credential", Value: "shared, active"}},
	})
}

func unusedPage(f templates.Frame, summary templates.UnusedSummary) templates.UnusedPage {
	summary.Review = ""
	return templates.UnusedPage{
		Frame: f, Head: agentHead(templates.AgentToolsTab), Summary: summary, Action: "/agents/support/unused", Drop: "Remove selected tools",
		Days: []templates.Option{{Value: "30", Label: "30 days"}}, Providers: []templates.Option{{Value: "openai", Label: "Tokens for OpenAI"}},
		Young: "3 tools are too new to tell.", Estimate: "Tokens are an estimate.",
		Groups: []templates.UnusedGroup{
			{Connector: "Linear", Href: "/agents/support/connectors/linear", Count: "2 of 23 tools, about 410 tokens", Note: "All of its tools are granted. Then the others are, by name.", Tools: []templates.UnusedTool{
				{Value: "linear/create_issue", Shown: "create_issue", Title: "Create issue", Size: "180 tokens", Badges: toolViews[0].Badges},
				{Value: "linear/list_issues", Shown: "list_issues", Size: "96 tokens"},
			}},
		},
	}
}
