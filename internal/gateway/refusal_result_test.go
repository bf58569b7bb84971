package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp/mcptest"
	"patchbay/internal/store"
)

// rpc is a JSON-RPC reply.
type rpc struct {
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
		Data    json.RawMessage
	}
}

func (a answer) rpc(t testing.TB) rpc {
	t.Helper()
	var r rpc
	if err := json.Unmarshal([]byte(a.body), &r); err != nil {
		t.Fatalf("%d %s: %v", a.status, a.body, err)
	}
	return r
}

// callRaw calls a tool as a client of revision 2026-07-28.
func callRaw(t testing.TB, address, token, tool, arguments string) answer {
	t.Helper()
	message := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + arguments + `,` + modernMeta + `}}`
	return post(t, address, message, "Authorization", token)
}

// newScriptedServer serves one tool with a scripted handler.
func newScriptedServer(t testing.TB, answer mcptest.Handler) string {
	t.Helper()
	return mcptest.Start(t, mcptest.Script{
		Tools: []string{`{"name":"a","inputSchema":{"type":"object","properties":{"n":{"type":"integer","minimum":3}},"required":["n"]}}`},
		On:    map[string]mcptest.Handler{"tools/call": answer},
	}).URL
}

func TestCall_KeepsResultBytes(t *testing.T) {
	t.Parallel()
	const raw = `{ "content" : [{"type":"text","text":"a\u0000b <c> ☃"}],"structuredContent":{"big":12345678901234567890123,"f":1.0},` +
		`"x-more":[1e2, null],"resultType":"complete" }`
	b := newTestEnv(t)
	agent := b.newAutoAgent(t)
	url := newScriptedServer(t, mcptest.Answer("application/json", func(c mcptest.Call) string { return mcptest.Result(c, raw) }))
	b.Grant(t, agent.ID, b.newConnector(t, "one", url).ID)
	token := bearerHeader(b.Token(t, agent.ID))
	for address, tool := range map[string]string{"/mcp": "mcp_one__a", "/mcp/one": "a"} {
		got := callRaw(t, b.url+address, token, tool, `{"n":3}`)
		if !strings.Contains(got.body, raw) || got.status != http.StatusOK {
			t.Errorf("%d %s", got.status, got.body)
		}
	}
}

func TestInvalidRequest_IsProtocolError(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent := b.newAutoAgent(t)
	url := newScriptedServer(t, mcptest.Answer("application/json", func(c mcptest.Call) string {
		return `{"jsonrpc":"2.0","id":` + string(c.ID) + `,"error":{"code":-32011,"message":"Out of <paper>","data":{"tray": 2}}}`
	}))
	b.Grant(t, agent.ID, b.newConnector(t, "one", url).ID)
	token := bearerHeader(b.Token(t, agent.ID))

	if e := callRaw(t, b.url+"/mcp", token, "mcp_one__b", `{}`).rpc(t).Error; e == nil || e.Code != -32602 || !strings.Contains(e.Message, "mcp_one__b") {
		t.Errorf("an unknown tool: %+v", e)
	}
	if e := callRaw(t, b.url+"/mcp", token, "mcp_one__a", `[1]`).rpc(t).Error; e == nil || e.Code != -32602 {
		t.Errorf("arguments that are no object: %+v", e)
	}
	e := callRaw(t, b.url+"/mcp", token, "mcp_one__a", `{"n":3}`).rpc(t).Error
	if e == nil || e.Code != -32011 || e.Message != "Out of <paper>" || string(e.Data) != `{"tray": 2}` {
		t.Errorf("the server's own error: %+v", e)
	}
	for method, params := range map[string]string{
		"prompts/get":         `"name":"none"`,
		"resources/read":      `"uri":"patchbay+two:file:///x"`,
		"completion/complete": `"ref":{"type":"ref/prompt","name":"none"},"argument":{"name":"a","value":""}`,
		"tools/list":          `"cursor":"invented"`,
		"tasks/get":           `"taskId":"invented"`,
	} {
		message := `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{` + params + `,` + tasksMeta + `}}`
		header := []string{"Authorization", token}
		if method == "tasks/get" {
			header = append(header, "Mcp-Name", "invented")
		}
		if e := post(t, b.url+"/mcp", message, header...).rpc(t).Error; e == nil || e.Code != -32602 {
			t.Errorf("%s: %+v", method, e)
		}
	}
	if e := post(t, b.url+"/mcp", `{"jsonrpc":"2.0","id":1,"method":"no/such","params":{`+modernMeta+`}}`, "Authorization", token).rpc(t).Error; e == nil || e.Code != -32601 {
		t.Errorf("an unknown method: %+v", e)
	}
}

// TestMismatchedArguments_AreToolResult calls tools with arguments that do not fit their schemas. A model can correct them
// (SEP-1303), so they are no protocol error.
func TestMismatchedArguments_AreToolResult(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent := b.newAutoAgent(t)
	url := newScriptedServer(t, func(w http.ResponseWriter, _ *http.Request, _ mcptest.Call) {
		t.Error("a call reached the server")
		w.WriteHeader(http.StatusTeapot)
	})
	b.Grant(t, agent.ID, b.newConnector(t, "one", url).ID)
	for _, e := range eras {
		for address, tool := range map[string]string{"/mcp": "mcp_one__a", "/mcp/one": "a"} {
			s := connect(t, b.url+address, b.Token(t, agent.ID), e)
			refused := call(t, s, tool, map[string]any{"n": 1})
			if why := reasonIn(t, refused); !refused.IsError || why["code"] != "invalid_arguments" || !strings.Contains(textOf(refused), `"n"`) {
				t.Errorf("%s at %s: %s", e, address, shownJSON(refused))
			}
		}
	}
}

func TestRefusal_IsToolResult(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent := b.newAutoAgent(t, func(a *connectors.Agent) { a.CallsPerMinute = 2 })
	up := newUpstream(t, sdk.StreamableHTTPOptions{}).withEchoTools("a", "b")
	lonely := b.newConnector(t, "lonely", up.url, func(d *connectors.Draft) {
		d.Auth.Type, d.CredentialMode = connectors.AuthOAuth2, connectors.CredentialPerAgent
	})
	b.Grant(t, agent.ID, lonely.ID)
	some := b.newConnector(t, "some", up.url)
	b.Grant(t, agent.ID, some.ID, func(g *connectors.Grant) { g.AllTools, g.Tools = false, []string{"a"} })
	for _, e := range eras {
		s := connect(t, b.url+"/mcp", b.Token(t, agent.ID), e)
		if names := toolNames(t, s); names != "mcp_lonely__a mcp_lonely__b mcp_some__a" {
			t.Errorf("listed: %q", names)
		}
		refused := call(t, s, "mcp_some__b", map[string]any{"text": "x"})
		if why := reasonIn(t, refused); !refused.IsError || why["code"] != "not_granted" {
			t.Errorf("not granted: %s", shownJSON(refused))
		}
		alone := call(t, s, "mcp_lonely__a", map[string]any{"text": "x"})
		why := reasonIn(t, alone)
		if why["code"] != "credential_required" || why["connect_url"] != b.url+"/connect/lonely" || !alone.IsError || textOf(alone) == "" {
			t.Errorf("no credential: %s", shownJSON(alone))
		}
	}
	s := connect(t, b.url+"/mcp", b.Token(t, agent.ID), modern)
	call(t, s, "mcp_some__a", map[string]any{"text": "x"})
	late := call(t, s, "mcp_some__a", map[string]any{"text": "x"})
	if why := reasonIn(t, late); why["code"] != "rate_limited" || why["retry_after_s"] == nil {
		t.Errorf("too many: %s", shownJSON(late))
	}
}

func TestQuota_SetsRetryTime(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent := b.newAutoAgent(t)
	some := b.newConnector(t, "some", newUpstream(t, sdk.StreamableHTTPOptions{}).withEchoTools("a", "b").url)
	b.Grant(t, agent.ID, some.ID)
	bound := []store.CuratedTool{{Name: "a", Curation: connectors.Curation{Enabled: true, Quota: connectors.Quota{PerMinute: 1, PerDay: 1000}}}}
	if err := b.Door().Tools().Curate(t.Context(), some.ID, bound); err != nil {
		t.Fatal(err)
	}
	for _, e := range eras {
		s := connect(t, b.url+"/mcp", b.Token(t, agent.ID), e)
		refused := call(t, s, "mcp_some__a", map[string]any{"text": "x"})
		for !refused.IsError {
			refused = call(t, s, "mcp_some__a", map[string]any{"text": "x"})
		}
		why := reasonIn(t, refused)
		if at, err := time.Parse(time.RFC3339, fmt.Sprint(why["retry_at"])); why["code"] != "quota_exceeded" || why["retry_after_s"] == nil || err != nil || time.Until(at) > time.Minute {
			t.Errorf("%s", shownJSON(refused))
		}
		if said := textOf(refused); !strings.Contains(said, "allows 1 call per minute. Try again in ") {
			t.Error(said)
		}
		if other := call(t, s, "mcp_some__b", map[string]any{"text": "x"}); other.IsError {
			t.Errorf("another tool: %s", shownJSON(other))
		}
	}
}

func TestProgressAndMessages_AreRelayed(t *testing.T) {
	t.Parallel()
	for _, e := range eras {
		t.Run(string(e), func(t *testing.T) {
			t.Parallel()
			b := newTestEnv(t)
			agent := b.newAutoAgent(t)
			up := newUpstream(t, sdk.StreamableHTTPOptions{})
			up.AddTool(&sdk.Tool{Name: "walk", InputSchema: json.RawMessage(`{"type":"object"}`)},
				func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
					for i := range 3 {
						note := &sdk.ProgressNotificationParams{
							ProgressToken: r.Params.GetProgressToken(), Progress: float64(i), Total: 3, Message: "step",
						}
						if err := r.Session.NotifyProgress(ctx, note); err != nil {
							return nil, err
						}
					}
					return &sdk.CallToolResult{}, nil
				})
			b.Grant(t, agent.ID, b.newConnector(t, "one", up.url).ID)
			heard := make(chan sdk.ProgressNotificationParams, 10)
			s := connect(t, b.url+"/mcp", b.Token(t, agent.ID), e, func(o *sdk.ClientOptions) {
				o.ProgressNotificationHandler = func(_ context.Context, r *sdk.ProgressNotificationClientRequest) { heard <- *r.Params }
			})
			params := &sdk.CallToolParams{Name: "mcp_one__walk", Arguments: map[string]any{}}
			params.SetProgressToken("mine")
			if _, err := s.CallTool(t.Context(), params); err != nil {
				t.Fatal(err)
			}
			for i := range 3 {
				want := sdk.ProgressNotificationParams{ProgressToken: "mine", Progress: float64(i), Total: 3, Message: "step"}
				if diff := cmp.Diff(shownJSON(want), shownJSON(<-heard)); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}
