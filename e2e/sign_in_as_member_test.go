//go:build e2e

package e2e_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"patchbay/internal/testing/browser"
)

// TestAProgramSignsInToLookAfterPatchbayAsItsPerson: the official SDK's client knows /mcp/admin alone. Its person reads that it will act as them, says
// how far, and agrees to what it asks; what it did stands in the audit log as theirs. What wants their password is left to the browser. When they
// end it, it is refused.
func TestAProgramSignsInToLookAfterPatchbayAsItsPerson(t *testing.T) {
	t.Parallel()
	_, s, tab, c := seeded(t)
	c.must(http.StatusOK, http.MethodPost, "/connectors/tools/sync_tools", nil)
	c.must(http.StatusCreated, http.MethodPost, "/api/v1/agents", object{"name": "Research", "approval": "auto"})
	p := newSignsIn(t, tab, func(tab *browser.Tab) {
		tab.WaitText("main", "Let a client act as you?")
		tab.WaitText("main", "“Gopher” (unverified)")
		tab.Choose("[name=scope]", "admin")
		tab.Click("button[value=allow]")
		tab.WaitText("body", "You can close this window.")
	})
	a := p.looksAfter(s.base + "/mcp/admin")
	a.does("grant_tools", object{"agent": "research", "connector": "tools", "tools": []string{"search_issues"}}, nil)
	if len(a.asked) != 1 || !strings.Contains(a.asked[0], "research") {
		t.Errorf("the person was asked %q", a.asked)
	}
	left, err := a.CallTool(t.Context(), &sdk.CallToolParams{Name: "connect_account", Arguments: object{"connector": "tools"}})
	if said := text(t, left, err); !left.IsError || !strings.Contains(said, s.base+"/connectors/tools/credentials") || len(a.asked) != 1 {
		t.Errorf("what wants a password: %s", said)
	}

	var log struct {
		Items []struct {
			Action string
			Actor  string `json:"actor_type"`
		}
	}
	a.does("list_audit_events", object{"action": "agent_grant", "limit": 1}, &log)
	if len(log.Items) != 1 || log.Items[0].Action != "agent_grant.set" || log.Items[0].Actor != "person" {
		t.Errorf("the audit log it reads: %+v", log)
	}
	granted := c.must(http.StatusOK, http.MethodGet, "/api/v1/audit_events?action=agent_grant.set&limit=1", nil)["items"].([]any)[0].(object)
	actor, detail := granted["actor"].(object), granted["detail"].(object)
	program, _ := detail["program"].(object)
	if actor["type"] != "person" || detail["via"] != "mcp" || program["name"] != "Gopher" {
		t.Errorf("on record: %v, %v", actor, detail)
	}

	past := p.kept.expireToken()
	renewed, err := p.kept.Token()
	if err != nil || renewed.AccessToken == past.AccessToken {
		t.Fatalf("the token is not renewed: %v", err)
	}
	message, header := modern("tools/list", "")
	opens := func() map[string]int {
		found := map[string]int{}
		for _, path := range []string{"/mcp/admin", "/mcp", "/mcp/tools"} {
			status, _, _, err := (agent{t: t, base: s.base, token: renewed.AccessToken}).try(t.Context(), path, message, header...)
			if err != nil {
				t.Fatal(err)
			}
			found[path] = status
		}
		return found
	}
	if got := opens(); got["/mcp/admin"] != http.StatusOK || got["/mcp"] != http.StatusUnauthorized || got["/mcp/tools"] != http.StatusUnauthorized {
		t.Errorf("the token opens %v", got)
	}

	tab.Go(s.base + "/members")
	tab.WaitText("#programs", "Gopher")
	tab.Go(s.base + "/account")
	tab.WaitText("#programs", "acts as member, all permissions")
	tab.Click("#programs .act > button")
	tab.Click("#programs [popover] button[type=submit]")
	tab.WaitText("body", "Access removed.")
	if got := opens(); got["/mcp/admin"] != http.StatusUnauthorized {
		t.Errorf("after its end: %v", got)
	}
}

// looksAfter opens a session of the official SDK's client with a person that accepts elicitations.
func (p *signsIn) looksAfter(endpoint string) *assistant {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), 2*time.Minute)
	defer cancel()
	a := &assistant{t: p.t}
	client := sdk.NewClient(&sdk.Implementation{Name: "gopher", Version: "1"}, &sdk.ClientOptions{
		ElicitationHandler: func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			a.asked = append(a.asked, r.Params.Message)
			return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"agree": true}}, nil
		},
	})
	session, err := client.Connect(ctx, &sdk.StreamableClientTransport{Endpoint: endpoint, HTTPClient: localClient, OAuthHandler: p.handler()}, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = session.Close() })
	a.ClientSession = session
	return a
}
