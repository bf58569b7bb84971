package templates_test

import (
	"github.com/a-h/templ"

	"patchbay/web/templates"
)

const callID = "01890000-0000-7000-8000-0000000000"

func callRow(id, tool string, s templates.State) templates.CallRow {
	return templates.CallRow{ID: callID + id, Href: "/calls/" + callID + id, Tool: tool, Agent: "support", Connector: "linear", State: s, Started: ago, Duration: "340 ms"}
}

var callRows = func() []templates.CallRow {
	rows := []templates.CallRow{
		callRow("01", "create_issue", templates.State{Kind: templates.StateBusy, Text: "Running"}),
		callRow("02", "archive_project", templates.State{Kind: templates.StateWarn, Text: "Waiting for approval"}),
		callRow("03", "list_issues", templates.State{Kind: templates.StateOK, Text: "Success"}),
		callRow("04", "list_issues", templates.State{Kind: templates.StateBad, Text: "Error"}),
		callRow("05", "linear://issues/with/a/long/uri/that/does/not/end/soon/enough/for/its/column", templates.State{Kind: templates.StateOff, Text: "Cancelled"}),
		callRow("06", "delete_everything", templates.State{Kind: templates.StateBad, Text: "Denied"}),
	}
	rows[0].Since, rows[0].Duration, rows[0].Progress, rows[0].Cancel = ago.ISO, "12.4 s", "40 %, reading page 3", rows[0].Href+"/cancel"
	rows[1].Since, rows[1].Duration, rows[1].Cancel = ago.ISO, "2 min 5 s", rows[1].Href+"/cancel"
	rows[3].Reason = "“Linear” didn't respond within 30 seconds, so Patchbay cancelled the call. The tool may have run."
	rows[4].Kind = "resource"
	return rows
}()

func callChart() *templates.CallChart {
	part := templates.CallBar{Href: "/calls?range=custom", Label: "21 Nov, 10:00 UTC: 12 calls, 1 error", X: "0", Width: "4", Height: "40", Bars: []templates.Bar{
		{Kind: templates.BarOK, X: "0", Y: "10", Width: "3", Height: "30"}, {Kind: templates.BarBad, X: "0", Y: "6", Width: "3", Height: "4"},
	}}
	return &templates.CallChart{Said: "12 calls, 1 error", ViewBox: "0 0 111 40", From: "14 Nov, 12:00 UTC", To: "21 Nov, 12:00 UTC", Bars: []templates.CallBar{part}}
}

func callSamples(pages map[string]templ.Component, with func(templates.Frame) templates.Frame) {
	f := with(frame("Calls", templates.NavCalls))
	f.Listen = "/events?on=calls"
	list := templates.CallsPage{
		Frame: f, Filter: templates.Form{Values: map[string]string{"agent": "support"}},
		Agents: []templates.Option{{Label: "All agents"}, {Value: "support", Label: "Support"}}, Connectors: []templates.Option{{Label: "All connectors"}, {Value: "linear", Label: "Linear"}},
		Statuses: []templates.Option{{Label: "All states"}, {Value: "running", Label: "Running"}},
		List:     templates.CallList{Asset: f.Asset, Rows: callRows, Count: "6 calls", Acts: true, Chart: callChart(), Home: "/calls", Wider: "/calls?range=30d", Pager: templates.Pager{Next: "/calls?cursor=x"}},
	}
	pages["calls"] = templates.Calls(list)
	list.List = templates.CallList{Asset: f.Asset, Count: "0 calls", Home: "/calls", Wider: "/calls?range=30d"}
	pages["calls-empty"] = templates.Calls(list)
	list.List.Filtered = true
	pages["calls-none"] = templates.Calls(list)

	taskSamples(pages, with(frame("Tasks", templates.NavTasks)))

	f = with(frame("create_issue", templates.NavCalls, templates.Crumb{Text: "Calls", Href: "/calls"}))
	detail := templates.CallDetail{
		Asset: f.Asset, Call: callRows[2], Arguments: templates.Content{JSON: "{\n  \"team\": \"ENG\"\n}"}, Again: &templates.Link{Text: "Try again", Href: "/connectors/linear/tools/list_issues"},
		Facts: []templates.Fact{
			{Label: "Agent", Value: "Support", Href: "/agents/support"}, {Label: "Connector", Value: "Linear", Href: "/connectors/linear"}, {Label: "Source", Value: "the gateway"},
			{Label: "Started", When: &ago}, {Label: "Took", Value: "340 ms"}, {Label: "Outcome", Value: "a result"}, {Label: "Sent", Value: "14 bytes"}, {Label: "Received", Value: "2 KiB"}, {Label: "ID", Value: callID + "03", Mono: true, Copy: true},
		},
		Result: result(),
	}
	pages["call"] = templates.Call(templates.CallPage{Frame: f, Detail: detail})
	detail.Call, detail.Result = callRows[0], nil
	detail.Arguments = templates.Content{Note: "The organisation keeps no arguments of calls."}
	pages["call-running"] = templates.Call(templates.CallPage{Frame: f, Detail: detail})
	detail.Call = callRows[3]
	detail.Attention = &templates.Attention{Kind: templates.StateBad, Title: "Error", Text: "“Linear” didn't respond within 30 seconds, so Patchbay cancelled the call. The tool may have run."}
	pages["call-failed"] = templates.Call(templates.CallPage{Frame: f, Detail: detail})
}

func taskSamples(pages map[string]templ.Component, f templates.Frame) {
	f.Listen = "/events?on=tasks"
	rows := []templates.TaskRow{
		{Call: callRows[0], Said: "Reading page 40 of 100", Heard: &ago, Kept: &soon}, {Call: callRows[2], Result: true}, {Call: callRows[3], Heard: &longAgo, Result: true}, {Call: callRows[4]},
	}
	page := templates.TasksPage{
		Frame: f, Agents: []templates.Option{{Label: "All agents"}}, Connectors: []templates.Option{{Label: "All connectors"}}, Statuses: []templates.Option{{Label: "All states"}},
		List: templates.TaskList{Asset: f.Asset, Rows: rows, Count: "4 tasks", Pager: templates.Pager{CSV: "/exports/tasks?format=csv", JSON: "/exports/tasks?format=json", Next: "/tasks?cursor=x"}},
	}
	pages["tasks"] = templates.Tasks(page)
	page.List = templates.TaskList{Asset: f.Asset, Count: "0 tasks"}
	pages["tasks-empty"] = templates.Tasks(page)
	page.List.Filtered = true
	pages["tasks-none"] = templates.Tasks(page)
}

func result() *templates.Result {
	return &templates.Result{
		State: templates.State{Kind: templates.StateOK, Text: "Done"}, Facts: "340 ms · 2 KiB", Structured: "{\n  \"issues\": []\n}",
		Blocks: []templates.ResultBlock{
			{Kind: templates.BlockText, Text: "3 issues of ENG\n\nENG-1  A title\nENG-2  Another title that is quite long and has to be broken over the lines that there are on a phone"},
			{Kind: templates.BlockJSON, Text: "{\n  \"id\": \"ENG-1\"\n}"},
			{Kind: templates.BlockImage, Title: "Image", About: "image/png · 12 KiB", Src: "/calls/" + callID + "03/pictures/2"},
			{Kind: templates.BlockImage, Title: "Image", About: "image/svg+xml · 1 KiB, not shown"},
			{Kind: templates.BlockLink, Title: "Link", Text: "https://linear.app/issue/ENG-1", About: "text/html"},
			{Kind: templates.BlockFile, Title: "Audio", About: "audio/wav · 1.2 MiB"},
		},
		Misfit: &templates.Attention{Kind: templates.StateWarn, Title: "Doesn't match the output schema", Text: "At /issues: an array of objects was promised."},
		Note:   "Only the first 200,000 bytes are kept.",
	}
}

func approvalCard(asset templates.Assets, id string) templates.ApprovalCard {
	return templates.ApprovalCard{
		Asset: asset, ID: callID + id, Action: "/approvals/" + callID + id, Tool: "archive_project", ToolHref: "/connectors/linear/tools/archive_project", Title: "Archive project",
		Agent: "Support", AgentHref: "/agents/support", Connector: "Linear", Badges: []templates.Badge{{Kind: templates.BadgeRisk, Text: "destructive"}, {Text: "open world"}},
		Arguments: templates.Content{JSON: "{\n  \"project\": \"Old website\",\n  \"notify\": true\n}"}, History: "Called 12 times in the last 30 days, denied once.",
		Asked: ago, Since: ago.ISO, Waits: "2 min 5 s", Ends: soon, State: templates.State{Kind: templates.StateWarn, Text: "Waiting for approval"}, Waiting: true, CanDecide: true, CallHref: "/calls/" + callID + id, ReturnTo: "/approvals",
	}
}

func approvalSamples(pages map[string]templ.Component, with func(templates.Frame) templates.Frame) {
	f := with(frame("Approvals", templates.NavApprovals))
	f.Listen = "/events?on=approvals"
	second := approvalCard(f.Asset, "12")
	second.Risky = &templates.Attention{Kind: templates.StateWarn, Title: "Tool changed", Text: "Its definition is another one than when the call was made."}
	pages["approvals"] = templates.Approvals(templates.ApprovalsPage{Frame: f, Rows: []templates.ApprovalCard{approvalCard(f.Asset, "11"), second}})
	f.Waiting = 0
	pages["approvals-empty"] = templates.Approvals(templates.ApprovalsPage{Frame: f})
	done := approvalCard(f.Asset, "13")
	done.Waiting, done.State, done.Decided = false, templates.State{Kind: templates.StateBad, Text: "Denied"}, "Denied by Ada Lovelace: not before the release."
	pages["approval"] = templates.Approval(templates.ApprovalPage{Frame: f, Card: done})
}

func trySamples(pages map[string]templ.Component, with func(templates.Frame) templates.Frame) {
	f := with(frame("create_issue", templates.NavConnectors, templates.Crumb{Text: "Linear", Href: "/connectors/linear/tools"}))
	try := templates.TryIt{
		Action: "/connectors/linear/tools/create_issue/try", Agents: []templates.Option{{Value: "support", Label: "Support"}}, Form: templates.Form{Values: map[string]string{"agent": "support"}}, Definition: "ab12",
		Fields: tryFields(), Result: result(),
	}
	page := templates.ToolPage{Frame: f, Tool: toolViews[0], Try: &try, Input: "{}", Output: "{}", About: []templates.Fact{{Label: "Connector", Value: "Linear", Href: "/connectors/linear"}}}
	pages["try"] = templates.Tool(page)
	inJSON := try
	inJSON.AsJSON, inJSON.Form.Problem, inJSON.Result = true, "At /team: a string is needed.", &templates.Result{Waiting: &templates.ResultWait{Text: "The call waits for approval.", Since: ago.ISO, Link: templates.Link{Text: "Open approval", Href: "/approvals/" + callID + "11"}}}
	inJSON.Form.Values = map[string]string{"json": "{\n  \"team\": 5\n}"}
	page.Try = &inJSON
	pages["try-json"] = templates.Tool(page)
	asks := try
	asks.Own, asks.Result, asks.Agents = true, nil, []templates.Option{{Value: ":", Label: "Myself"}, {Value: "support", Label: "Support"}}
	asks.Question = &templates.TryQuestion{Text: "The tool “create_issue” may change or delete data. Confirm that you want to run it.", Value: "ab12"}
	asks.Form.Values = map[string]string{"agent": ":"}
	page.Try = &asks
	pages["try-question"] = templates.Tool(page)
	page.Try = &templates.TryIt{Instead: "No agent was granted this tool.", Repair: &templates.Link{Text: "Open agents", Href: "/agents"}}
	pages["try-nobody"] = templates.Tool(page)
}

func tryFields() []templates.TryField {
	return []templates.TryField{
		{Name: "arg.0", Label: "team", Kind: templates.AskLine, Type: "text", Required: true, Needed: true, Help: "Key of the team", Error: "Required."},
		{Name: "arg.1", Label: "body", Kind: templates.AskText, Rows: 3, Help: "Markdown"},
		{Name: "arg.2", Label: "priority", Kind: templates.AskLine, Type: "number", Step: "1", Min: "0", Max: "4", Value: "0", Notes: "0–4"},
		{Name: "arg.3", Label: "state", Kind: templates.AskChoice, Options: []templates.Option{{Label: "–"}, {Value: `"started"`, Label: "started"}}},
		{Name: "arg.4", Label: "notify", Kind: templates.AskFlag, Value: "true", Help: "Tell the team"},
		{Name: "arg.5", Label: "labels", Kind: templates.AskSeveral, Options: []templates.Option{{Value: `"bug"`, Label: "bug"}, {Value: `"idea"`, Label: "idea"}}, Values: []string{`"bug"`}},
		{Name: "arg.6", Label: "due", Kind: templates.AskGroup, Help: "When it has to be done", Fields: []templates.TryField{
			{Name: "arg.6.0", Label: "date", Kind: templates.AskLine, Type: "date", Needed: true},
			{Name: "arg.6.1", Label: "at", Kind: templates.AskLine, Type: "datetime-local", Notes: "UTC"},
		}},
		{Name: "arg.7", Label: "meta", Kind: templates.AskText, Rows: 3, Mono: true, Notes: "JSON"},
	}
}
