package templates_test

import (
	"github.com/a-h/templ"

	"patchbay/web/templates"
)

func accessRequestSamples(pages map[string]templ.Component, f templates.Frame) {
	waiting := templates.State{Kind: templates.StateWarn, Text: "Waiting for a decision"}
	states := []templates.Option{{Label: "Waiting for a decision"}, {Value: "all", Label: "All states"}}
	ends := []templates.Option{{Value: "asked", Label: "As asked: in 7 days"}, {Value: "24h", Label: "After 1 day"}, {Value: "custom", Label: "On a date…"}, {Label: "No end"}}
	pages["access-requests"] = templates.AccessRequests(templates.AccessRequestsPage{Frame: f, States: states, Count: "1 request", Rows: []templates.AccessRequestRow{
		{Href: "/access/requests/1", Agent: "Support", Connector: "Linear", Tools: "2 tools", AskedBy: "Ada", Asked: ago, Ends: "in 7 days", State: waiting},
	}})
	pages["access-requests-none"] = templates.AccessRequests(templates.AccessRequestsPage{Frame: f, States: states, Count: "0 requests"})
	page := templates.AccessRequestPage{
		Frame: f, Title: "Support → Linear", State: waiting, Action: "/access/requests/1", Reason: "For the weekly report.", Withdraw: true,
		Facts: []templates.Fact{{Label: "Agent", Value: "Support", Href: "/agents/support"}, {Label: "Tools", Value: "create_issue"}, {Label: "Asked", When: &ago}},
		Review: &templates.AccessReview{
			Form: templates.Form{Values: map[string]string{"until": "asked"}}, Ends: ends, More: "First 100 shown.",
			Grant:  []templates.Fact{{Label: "Before", Value: "list_issues"}, {Label: "After", Value: "create_issue (ends in 7 days), list_issues"}},
			Tools:  []templates.RequestedTool{{Name: "create_issue", Href: "/connectors/linear/tools/create_issue", Badges: toolViews[0].Badges, Calls: "12", Failed: "1", Refused: "3"}},
			Others: []templates.Fact{{Label: "Billing", Value: "All tools", Href: "/agents/billing/connectors/linear"}},
		},
	}
	pages["access-request"] = templates.AccessRequest(page)
	page.Review.Tools, page.Review.Others, page.Review.More = nil, nil, ""
	page.Review.Form.Errors = map[string]string{"until_at": "Enter a date and time like 2027-01-31T18:00."}
	pages["access-request-unknown"] = templates.AccessRequest(page)
	page.Review, page.Withdraw, page.State, page.Note = nil, false, templates.State{Kind: templates.StateBad, Text: "Refused"}, "Not now."
	pages["access-request-refused"] = templates.AccessRequest(page)
	options := []templates.Option{{Value: "support", Label: "Support"}}
	pages["access-ask"] = templates.AccessAsk(templates.AccessAskPage{Frame: f, Agents: options, Connectors: options, Other: "/access/request"})
	pages["access-ask-tools"] = templates.AccessAsk(templates.AccessAskPage{
		Frame: f, Chosen: true, Title: "Support → Linear", Other: "/access/request", Ends: ends, More: "First 500 shown.",
		Form:  templates.Form{Values: map[string]string{"agent": "support", "connector": "linear", "until": "24h"}, Errors: map[string]string{"tools": "Select at least one tool, or all."}},
		Tools: []templates.AskedTool{{Name: "create_issue", Shown: "create_issue", Title: "Create issue", Checked: true, Badges: toolViews[0].Badges}},
	})
}
