//go:build e2e && interop

package e2e_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestClientsHearEventsAsDirectly compares the progress and log messages that a client gets of a server through the gateway with those that
// it gets directly.
func TestClientsHearEventsAsDirectly(t *testing.T) {
	t.Parallel()
	needInterop(t)
	c, url := admin(t), startEverything(t)
	for _, client := range []struct {
		name, npm string
		progress  int
		logged    string
		because   string // for the table
	}{
		{name: "mcp-remote", npm: "mcp-remote", progress: 2, logged: "string"},
		{name: "supergateway", npm: "supergateway", logged: "nothing", because: "supergateway passes none on, directly neither"},
		{name: "ts-v1", npm: "@modelcontextprotocol/sdk", progress: 2, logged: "string"},
	} {
		// A connector each: a session is shared, and the second call of the tool that begins log messages would end them.
		c.must(http.StatusCreated, http.MethodPost, "/api/v1/connectors", object{"name": client.name, "slug": client.name, "url": url})
		c.must(http.StatusOK, http.MethodPost, "/connectors/"+client.name+"/sync_tools", nil)
		agent := c.hire("robin-"+client.name, client.name)
		t.Run(client.name, func(t *testing.T) {
			t.Parallel()
			direct := runClient(t, "events-"+client.name, url, "none")
			through := runClient(t, "events-"+client.name, c.base+"/mcp/"+client.name, agent.token)
			// The TypeScript SDK may drop the last one, which comes right before the result.
			for _, r := range []*clientReport{&direct, &through} {
				r.Progress = r.Progress[:min(len(r.Progress), 2)]
			}
			if diff := cmp.Diff(direct, through); diff != "" {
				t.Errorf("through the gateway (-direct +gateway): %s", diff)
			}
			if len(direct.Progress) != client.progress || direct.Logged != client.logged {
				t.Errorf("it hears %+v and %s", direct.Progress, direct.Logged)
			}
			heard := func(some bool) string { return map[bool]string{true: "some", false: "none"}[some] }
			wantRow(t, "interop/events.txt", client.name, npmVersion(t, client.npm), heard(len(through.Progress) > 0), heard(through.Logged != "nothing"), client.because)
		})
	}
}
