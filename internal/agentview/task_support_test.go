package agentview_test

import (
	"strings"
	"testing"

	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
	"patchbay/internal/mcp/mcptest"
	"patchbay/internal/testing/fixture"
)

// storeServer stores a sync of a server with these capabilities.
func (b *testEnv) storeServer(t *testing.T, id connectors.ConnectorID, capabilities string, raws ...string) {
	t.Helper()
	found := fixture.FirstResult(defs(raws...)...)
	found.Capabilities = []byte(capabilities)
	if _, err := b.Door().Syncs().Finish(t.Context(), b.Run(t, id).ID, found); err != nil {
		t.Fatal(err)
	}
}

func TestTaskSupport_IsWhatPatchbayCanDo(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent := b.Agent(t)
	const odd = `{"execution" : { "x":1.50, "taskSupport" : "required" },"name":"odd","inputSchema":{"type":"object"}}`
	const none, forbidden = `{"name":"none","inputSchema":{"type":"object"}}`, `{"name":"no","inputSchema":{"type":"object"},"execution":{"taskSupport":"forbidden"}}`
	const optional = `"execution":{"taskSupport":"optional"}`
	for name, tc := range map[string]struct{ capabilities, raw, legacy, modern string }{
		"required":  {mcptest.TaskCapabilities, mcptest.TaskTools[0], strings.Replace(mcptest.TaskTools[0], "required", "optional", 1), strings.Replace(mcptest.TaskTools[0], `"taskSupport":"required"`, "", 1)},
		"optional":  {mcptest.TaskCapabilities, mcptest.TaskTools[1], mcptest.TaskTools[1], strings.Replace(mcptest.TaskTools[1], `"taskSupport":"optional"`, "", 1)},
		"forbidden": {mcptest.TaskCapabilities, forbidden, strings.Replace(forbidden, `"taskSupport":"forbidden"`, "", 1), strings.Replace(forbidden, `"taskSupport":"forbidden"`, "", 1)},
		"none":      {mcptest.TaskCapabilities, none, none, none},
		"other members": {
			mcptest.TaskCapabilities, odd, strings.Replace(odd, `{ "x":1.50, "taskSupport" : "required" }`, `{"x":1.50,"taskSupport":"optional"}`, 1),
			strings.Replace(odd, `{ "x":1.50, "taskSupport" : "required" }`, `{"x":1.50}`, 1),
		},
		"undeclared": {`{"tools":{}}`, mcptest.TaskTools[0], strings.Replace(mcptest.TaskTools[0], `"taskSupport":"required"`, "", 1), strings.Replace(mcptest.TaskTools[0], `"taskSupport":"required"`, "", 1)},
		"extension":  {`{"extensions":{"io.modelcontextprotocol/tasks":{}}}`, none, `{` + optional + `,` + none[1:], none},
	} {
		c := b.Connector(t, slug("c"+strings.ReplaceAll(name, " ", "")))
		b.Grant(t, agent.ID, c.ID)
		b.storeServer(t, c.ID, tc.capabilities, tc.raw)
		connector := b.view(t, agent.ID).Connector(c.Slug)
		if got, want := string(connector.ListResult(agentview.Tools, false)), `{"tools":[`+tc.legacy+`]}`; got != want {
			t.Errorf("%s, before 2026-07-28:\n%s\n%s", name, got, want)
		}
		if got, want := string(connector.ListResult(agentview.Tools, true)), `"tools":[`+tc.modern+`]}`; !strings.HasSuffix(got, want) {
			t.Errorf("%s, modern:\n%s\n%s", name, got, want)
		}
		if tool := connector.Tools[0]; string(tool.Raw) != tc.raw || tool.OffersTasks != strings.Contains(tc.legacy, "optional") {
			t.Errorf("%s: %+v", name, tool)
		}
	}
}

func TestExplainTool_SaysThatTasksAreMissing(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent := b.Agent(t)
	for capabilities, tc := range map[string]struct{ slug, state, advice string }{
		`{"tools":{}}`:           {"without", agentview.StateTasksMissing, "Every call is refused"},
		mcptest.TaskCapabilities: {"with", agentview.StateOK, "Each call becomes a task"},
	} {
		c := b.Connector(t, slug(tc.slug), func(d *connectors.Draft) { d.Auth.Type = connectors.AuthNone })
		b.Grant(t, agent.ID, c.ID, func(g *connectors.Grant) { g.Approval = new(connectors.ApprovalAuto) })
		b.storeServer(t, c.ID, capabilities, mcptest.TaskTools[0])
		w, err := b.cache.ExplainTool(t.Context(), b.Tenant, connectors.Ref(agent.Slug), "mcp_"+tc.slug+"__research")
		if err != nil || w.State != tc.state || w.Callable != (tc.state == agentview.StateOK) || !w.Listed || !strings.Contains(w.Advice, tc.advice) {
			t.Errorf("%s: %+v, %v", tc.slug, w, err)
		}
	}
}
