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
	page := render(t, templates.TestPanel(web.Asset, &templates.TestResult{Failure: &templates.Failure{Sentence: "The server did not answer.", Phase: "while connecting"}}))
	panel, ok := page.ByID("test-result")
	if !ok || !strings.Contains(panel.Text(), "The server did not answer. It happened while connecting.") {
		t.Errorf("the panel says %q", panel.Text())
	}
}

func TestRemoteTextIsShownAsText(t *testing.T) {
	t.Parallel()
	evil := `<img src=x onerror=alert(1)>`
	tool := templates.ToolView{Name: evil, Title: evil, Description: evil, Href: "/connectors/linear/tools/x", Raw: evil, Params: []templates.Param{{Name: evil, Description: evil, Notes: []string{evil}}}}
	p := overview(frame(evil, templates.NavConnectors))
	p.Instructions, p.Server = evil, []templates.Fact{{Label: "Name", Value: evil}, {Label: "Site", Value: "x", Href: "javascript:alert(1)"}}
	for name, page := range map[string]string{
		"tool":     source(t, templates.Tool(templates.ToolPage{Frame: frame(evil, templates.NavConnectors), Tool: tool})),
		"overview": source(t, templates.ConnectorOverview(p)),
	} {
		if strings.Contains(page, "<img") || strings.Contains(page, "javascript:") {
			t.Errorf("%s: remote text became part of the page", name)
		}
	}
}
