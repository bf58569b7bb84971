package templates_test

import (
	"strings"
	"testing"

	"patchbay/web"
	"patchbay/web/templates"
)

func TestAChangedConnectorFindsItsRowAndItsHead(t *testing.T) {
	t.Parallel()
	row := connectorRow("2", "Linear", "https://mcp.linear.app/mcp", stateBusy, "None", "0", never)
	got := source(t, templates.ConnectorChanged(templates.ConnectorChange{Asset: web.Asset, Row: row}))
	for _, want := range []string{
		`<hx-partial hx-target="#connector-` + row.ID + `"`, `<tr id="connector-` + row.ID + `"`,
		`<hx-partial hx-target="#connector-state-` + row.ID + `"`, `<span id="connector-state-` + row.ID + `"`, "Syncing, page 2",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
	list := source(t, templates.Connectors(connectorsPage(frame("Connectors", templates.NavConnectors))))
	if !strings.Contains(list, `<tr id="connector-`+row.ID+`"`) {
		t.Errorf("the list has no row of that id")
	}
	f := frame("Linear", templates.NavConnectors)
	if !strings.Contains(source(t, templates.ConnectorOverview(overview(f))), `id="connector-state-`+head(templates.TabOverview, stateOK).ID+`"`) {
		t.Errorf("the connector's page has no state of that id")
	}
}

func TestThePanelOfATestTravelsAlone(t *testing.T) {
	t.Parallel()
	page := render(t, templates.TestPanel(web.Asset, &templates.TestResult{Kind: templates.StateBad, Summary: "No connection", Failure: &templates.Failure{Sentence: "The server did not answer.", Phase: "while connecting"}}))
	panel, ok := page.ByID("test-result")
	if !ok || !strings.Contains(panel.Text(), "The server did not answer. Happened while connecting.") {
		t.Errorf("the panel says %q", panel.Text())
	}
}

func TestRemoteTextIsShownAsText(t *testing.T) {
	t.Parallel()
	evil := `<img src=x onerror=alert(1)>`
	tool := templates.ToolView{Name: evil, Title: evil, Description: evil, Href: "/connectors/linear/tools/x", Raw: evil, Params: []templates.Param{{Name: evil, Description: evil, Notes: []string{evil}}}}
	p := overview(frame(evil, templates.NavConnectors))
	p.Instructions, p.Server = evil, []templates.Fact{{Label: "Name", Value: evil}, {Label: "Site", Value: "x", Href: "javascript:alert(1)"}}
	f := frame(evil, templates.NavCalls)
	card := approvalCard(web.Asset, "21")
	card.Tool, card.Title, card.Decided, card.History, card.Arguments = evil, evil, evil, evil, templates.Content{JSON: evil}
	field := templates.TryField{Name: "arg.0", Label: evil, Kind: templates.AskChoice, Help: evil, Notes: evil, Value: evil, Error: evil, Options: []templates.Option{{Value: evil, Label: evil}}}
	row := callRow("22", evil, templates.State{Text: evil})
	row.Reason, row.Progress = evil, evil
	said := &templates.Result{Structured: evil, Note: evil, Blocks: []templates.ResultBlock{{Kind: templates.BlockText, Text: evil}, {Kind: templates.BlockLink, Title: evil, Text: evil, About: evil}, {Kind: templates.BlockImage, Title: evil, About: evil}}}
	for name, page := range map[string]string{
		"approval": source(t, templates.Approval(templates.ApprovalPage{Frame: f, Card: card})),
		"call":     source(t, templates.Call(templates.CallPage{Frame: f, Detail: templates.CallDetail{Call: row, Arguments: templates.Content{JSON: evil}, Result: said}})),
		"try":      source(t, templates.Tool(templates.ToolPage{Frame: f, Tool: tool, Try: &templates.TryIt{Action: "/connectors/x/tools/y/try", Fields: []templates.TryField{field, {Name: "arg.1", Label: evil, Kind: templates.AskSeveral, Options: field.Options}}, Result: said}})),
		"grant":    source(t, templates.Grant(templates.GrantPage{Frame: f, Action: "/agents/x/connectors/y", Tools: []templates.GrantTool{{Name: evil, Shown: evil, Title: evil, About: evil}}})),
		"tool":     source(t, templates.Tool(templates.ToolPage{Frame: frame(evil, templates.NavConnectors), Tool: tool})),
		"overview": source(t, templates.ConnectorOverview(p)),
	} {
		if strings.Contains(page, "<img") || strings.Contains(page, "javascript:") {
			t.Errorf("%s: remote text became part of the page", name)
		}
	}
}
