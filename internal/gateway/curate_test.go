package gateway_test

import (
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// curated stores an admin's changes of tools directly. Processes learn of them from the database.
func (b *testEnv) curated(t testing.TB, c connectors.Connector, tools ...store.CuratedTool) {
	t.Helper()
	if err := b.Door().Tools().Curate(t.Context(), c.ID, tools); err != nil {
		t.Fatal(err)
	}
}

func TestRenamedTool_IsCallableInEveryProcess(t *testing.T) {
	t.Parallel()
	for _, e := range eras {
		t.Run(string(e), func(t *testing.T) {
			t.Parallel()
			b := newTestEnv(t)
			other := newTestProcess(t, b.World)
			agent := b.newAutoAgent(t)
			c := b.newConnector(t, "one", newUpstream(t, sdk.StreamableHTTPOptions{}).withEchoTools("a", "b").url)
			b.Grant(t, agent.ID, c.ID)
			token := b.Token(t, agent.ID)
			all, own := listen(t, b.url+"/mcp", token, e), listen(t, other.url+"/mcp/one", token, e)
			if names := toolNames(t, own.ClientSession); names != "a b" {
				t.Fatalf("before, they are %q", names)
			}
			b.curated(t, c,
				store.CuratedTool{Name: "a", Curation: connectors.Curation{Enabled: true, Alias: "echo.this", AgentText: "Says it again."}},
				store.CuratedTool{Name: "b"})

			exposed := connectors.ExposedName("one", "echo.this")
			all.wantNotification(t, exposed)
			own.wantNotification(t, "echo.this")
			for s, name := range map[*sdk.ClientSession]string{all.ClientSession: exposed, own.ClientSession: "echo.this"} {
				if got := textOf(call(t, s, name, map[string]any{"text": "hi"})); got != "a: hi" {
					t.Errorf("%s answers %q", name, got)
				}
				for tool, err := range s.Tools(t.Context(), nil) {
					if err != nil || tool.Description != "Says it again." {
						t.Errorf("%s: %q, %v", tool.Name, tool.Description, err)
					}
				}
			}
			if _, err := own.CallTool(t.Context(), &sdk.CallToolParams{Name: "a", Arguments: map[string]any{"text": "hi"}}); err == nil {
				t.Error("the server's name still works at the connector's address")
			}
			refused := call(t, all.ClientSession, "mcp_one__b", map[string]any{"text": "hi"})
			if !refused.IsError || !strings.Contains(textOf(refused), "is disabled. An admin can enable it.") {
				t.Errorf("a disabled tool answers %q", textOf(refused))
			}
		})
	}
}
