package mcpadmin_test

import (
	"testing"
	"time"

	"patchbay/internal/connectors"
)

// The tool replaces all access: tools with ends of their own go, and the end of the grant stays.
func TestGrantTools_RemovesToolsWithEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent, c := w.Agent(t), w.Connector(t)
	until, own := time.Now().Add(time.Hour), time.Now().Add(2*time.Hour)
	w.Grant(t, agent.ID, c.ID, func(g *connectors.Grant) {
		g.AllTools, g.Tools = false, []string{"a"}
		g.Ends = &connectors.GrantEnds{Until: &until, Tools: map[string]*time.Time{"delete": &own}}
	})
	a := w.connect(t, w.newAPIKey(t, w.Tenant, connectors.RoleAdmin), newest, "accept")
	a.callTool(t, "grant_tools", map[string]any{"agent": agent.Slug, "connector": c.Slug, "tools": []string{"a"}}, nil)
	got, err := w.Door().Agents().Grant(t.Context(), agent.ID, c.ID)
	if err != nil {
		t.Fatal(err)
	}
	if got.At(time.Now()).Includes("delete") || got.Until() == nil {
		t.Errorf("the grant is %+v", got.Grant)
	}
}
