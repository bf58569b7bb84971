//go:build e2e

package e2e_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"patchbay/internal/testing/browser"
)

// TestOwnAccount_ProgramOpensPageAndContinues: a member authorizes the official SDK's client as their own
// agent. Its first call lacks their account: the client opens the page in a real browser, they sign in at the
// server, and the call continues with their account.
func TestOwnAccount_ProgramOpensPageAndContinues(t *testing.T) {
	t.Parallel()
	for _, era := range []string{"2026-07-28", "2025-11-25"} {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			m := newMembersProgram(t, era)
			tools, err := m.session.ListTools(t.Context(), nil)
			if err != nil || len(tools.Tools) == 0 {
				t.Fatalf("%+v, %v", tools, err)
			}
			before := m.opened
			result, err := m.call(&sdk.CallToolParams{Name: "mcp_notes__echo", Arguments: map[string]any{"message": "hello"}})
			if err != nil || result.IsError {
				t.Fatalf("%+v, %v", result, err)
			}
			if m.opened != before+1 {
				t.Errorf("the page was opened %d times", m.opened)
			}
			if c := m.credential(m.agent); c["account"] != "mia@example.com" || c["status"] != "active" {
				t.Errorf("the account: %v", c)
			}
			if again, err := m.call(&sdk.CallToolParams{Name: "mcp_notes__echo", Arguments: map[string]any{"message": "hello"}}); err != nil || again.IsError || m.opened != before+1 {
				t.Errorf("the next call: %+v, %v, after %d pages", again, err, m.opened)
			}

			m.tab.Go(m.s.base + "/account/connections")
			m.tab.WaitText("main", "mia@example.com")
			m.tab.Click("[popovertarget^=disconnect-]")
			m.tab.Click("[popover] form[action$='/disconnect'] button[type=submit]")
			m.tab.WaitText("main", "Disconnected “Notes”.")
		})
	}
}

// membersProgram is a program that a member let in as an agent of their own, which was granted Notes.
type membersProgram struct {
	*connecting
	t       *testing.T
	tab     *browser.Tab
	session *sdk.ClientSession
	agent   string // the slug
	told    chan string
	opened  int
}

func newMembersProgram(t *testing.T, era string) *membersProgram {
	t.Helper()
	m := &membersProgram{connecting: newConnecting(t), t: t, tab: browser.Open(t), told: make(chan string, 10)}
	m.connector("/mcp", "other")
	m.connect("other", "other@example.com")
	m.c.must(http.StatusCreated, http.MethodPost, "/api/v1/members", object{"email": "mia@example.com", "name": "Mia", "role": "member", "password": ownerPassword})
	p := newSignsIn(t, m.tab, func(tab *browser.Tab) {
		tab.Fill("[name=email]", "mia@example.com")
		tab.Fill("[name=password]", ownerPassword)
		tab.Click("main form button[type=submit]")
		tab.WaitText("main", "“Gopher” (unverified)")
		tab.Click("button[value=allow]")
		tab.WaitText("body", "You can close this window.")
	})
	client := sdk.NewClient(&sdk.Implementation{Name: "gopher", Version: "1"}, &sdk.ClientOptions{
		Capabilities: &sdk.ClientCapabilities{Elicitation: &sdk.ElicitationCapabilities{URL: &sdk.URLElicitationCapabilities{}}},
		ElicitationHandler: func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			m.open(r.Params.URL)
			return &sdk.ElicitResult{Action: "accept"}, nil
		},
		ElicitationCompleteHandler: func(_ context.Context, r *sdk.ElicitationCompleteNotificationRequest) {
			m.told <- r.Params.ElicitationID
		},
	})
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var err error
	m.session, err = client.Connect(ctx, &sdk.StreamableClientTransport{Endpoint: m.s.base + "/mcp", HTTPClient: localClient, OAuthHandler: p.handler()}, &sdk.ClientSessionOptions{ProtocolVersion: era})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.session.Close() })
	m.agent = m.own()
	m.c.must(http.StatusOK, http.MethodPatch, "/api/v1/agents/"+m.agent, object{"approval": "auto"})
	m.c.must(http.StatusNoContent, http.MethodPut, "/api/v1/agents/"+m.agent+"/connectors/notes", object{"tools": "all"})
	return m
}

// own is the slug of the agent that was made for the program.
func (m *membersProgram) own() string {
	m.t.Helper()
	items, _ := m.c.must(http.StatusOK, http.MethodGet, "/api/v1/agents", nil)["items"].([]any)
	for _, item := range items {
		if a, _ := item.(object); a["slug"] != "other" {
			slug, _ := a["slug"].(string)
			return slug
		}
	}
	m.t.Fatalf("no agent was made: %v", items)
	return ""
}

// open is what the member does with the page.
func (m *membersProgram) open(page string) {
	m.opened++
	if !strings.HasPrefix(page, m.s.base+"/account/connections/") {
		m.t.Errorf("the page is %q", page)
	}
	m.tab.Go(page)
	m.tab.WaitText("main", "needs your account to act on your behalf.")
	m.tab.Click("form[action$='/connect'] button")
	m.as.agree(m.tab, "mia@example.com")
	m.tab.WaitText("main", "Notes is connected")
}

// call makes a call as clients of each era do: of the older one, the client opens the page that an error names, and tries again when it hears of it.
func (m *membersProgram) call(p *sdk.CallToolParams) (*sdk.CallToolResult, error) {
	ctx, cancel := context.WithTimeout(m.t.Context(), 2*time.Minute)
	defer cancel()
	result, err := m.session.CallTool(ctx, p)
	failure, ok := errors.AsType[*jsonrpc.Error](err)
	if !ok || failure.Code != sdk.CodeURLElicitationRequired {
		return result, err
	}
	var data struct{ Elicitations []sdk.ElicitParams }
	if err := json.Unmarshal(failure.Data, &data); err != nil || len(data.Elicitations) != 1 {
		return nil, errors.Join(failure, err)
	}
	m.open(data.Elicitations[0].URL)
	select {
	case id := <-m.told:
		if id != data.Elicitations[0].ElicitationID {
			m.t.Errorf("told of %q, asked for %q", id, data.Elicitations[0].ElicitationID)
		}
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	return m.session.CallTool(ctx, p)
}
