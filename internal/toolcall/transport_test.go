package toolcall_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/fault"
	"patchbay/internal/mcp"
	"patchbay/internal/safehttp"
	"patchbay/internal/toolcall"
	"patchbay/internal/toolsync"
)

// transports have tools under the same rules.
var transports = []connectors.Transport{connectors.TransportStreamableHTTP, connectors.TransportAPI}

// newTransportBench is a bench at noon UTC with a connector of a transport, reached as the program does. Its tool "search" answers
// with its name.
func newTransportBench(t *testing.T, transport connectors.Transport, connectorOpt func(*connectors.Draft), opts ...func(*toolcall.Options)) (*bench, connectors.Connector) {
	t.Helper()
	b := newQuotaBench(t, append(opts, func(o *toolcall.Options) {
		syncer := toolsync.New(toolsync.Options{Store: o.Store, Credentials: o.Credentials, Egress: safehttp.New(safehttp.Options{Mode: safehttp.Local}), Version: "test", Instance: o.Instance})
		t.Cleanup(func() { syncer.Stop(context.WithoutCancel(t.Context())) })
		o.Target = func(ctx context.Context, tenant connectors.TenantID, c connectors.Connector, headers []credentials.Header) (mcp.Target, error) {
			if c.Transport != connectors.TransportAPI {
				c.Era = string(mcp.EraHandshake)
			}
			return syncer.Target(ctx, tenant, c, headers)
		}
	})...)
	if transport != connectors.TransportAPI {
		return b, b.connector(t, b.remote, connectorOpt)
	}
	api := httptest.NewServer(http.HandlerFunc(b.remote.serveAPI))
	t.Cleanup(func() {
		api.CloseClientConnections()
		api.Close()
	})
	c := b.Connector(t, func(d *connectors.Draft) {
		d.Transport, d.URL, d.ServerURL, d.Auth.Type = transport, "https://documents.example.com/openapi.json", api.URL, connectors.AuthNone
		connectorOpt(d)
	})
	server := c.ServerURL
	b.syncTools(t, c, fmt.Sprintf(`{"name":"search","inputSchema":{"type":"object","properties":{"q":{"type":"string"}}},"patchbay/http":{"v":1,"method":"POST","server":%q,
		"path":"/search","accept":"application/json","body":{"media":"application/json","fields":[{"argument":"q","name":"q"}]}}}`, server),
		fmt.Sprintf(`{"name":"read","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true},"patchbay/http":{"v":1,"method":"GET","server":%q,"path":"/read"}}`, server))
	return b, c
}

// serveAPI answers as an HTTP API, with the same counts as the MCP server.
func (s *remote) serveAPI(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.calls++
	s.requests++
	s.bearers[r.Header.Get("Authorization")]++
	answer := s.answer
	s.mu.Unlock()
	if answer == nil || !answer(w, r, message{Method: "tools/call"}) {
		_, _ = io.WriteString(w, strings.TrimPrefix(r.URL.Path, "/"))
	}
}

// respondWith answers calls with a status and a text.
func respondWith(status int, text string) func(http.ResponseWriter, *http.Request, message) bool {
	return func(w http.ResponseWriter, _ *http.Request, m message) bool {
		if m.Method == "tools/call" {
			http.Error(w, text, status)
		}
		return m.Method == "tools/call"
	}
}

// Approval, quota, record and metrics of a call are the same for each transport.
func TestTransport_SameRules(t *testing.T) {
	t.Parallel()
	for _, transport := range transports {
		t.Run(string(transport), func(t *testing.T) {
			t.Parallel()
			var refusals atomic.Int32
			ended := make(chan connectors.ToolCall, 10)
			b, c := newTransportBench(t, transport, func(*connectors.Draft) {}, func(o *toolcall.Options) {
				o.OnEnd, o.OnOverQuota = func(c connectors.ToolCall) { ended <- c }, func(string, string) { refusals.Add(1) }
			})
			b.setQuota(t, c, connectors.Quota{PerDay: 2})
			cautious := b.newGrantedAgent(t, c, func(a *connectors.Agent) { a.Approval = connectors.ApprovalAlwaysAsk })
			trusted := b.newTrustedAgent(t, c)

			// Approval: held, then sent once.
			answers, id := b.startWaiting(t, cautious, c, b.process)
			b.remote.wantCalls(t, 0)
			b.approve(t, b.process, id)
			got := receive(t, answers)
			must(t, got.err)
			if _, err := b.Decide(t.Context(), b.actor(connectors.RoleMember), id, toolcall.Decision{Approve: true}); !fault.Is(err, fault.Conflict) {
				t.Errorf("a second decision: %v", err)
			}
			b.remote.wantCalls(t, 1)
			row := b.row(t, id)
			if row.Status != connectors.CallSuccess || row.ApprovedBy != "Dana" || string(row.Arguments) != `{"q":"x"}` || string(row.Content) != `[{"type":"text","text":"search"}]` ||
				row.Tool != "search" || row.AgentSlug != cautious.Slug || row.ConnectorSlug != c.Slug || row.Definition == nil || row.RequestBytes != 9 || row.ResponseBytes == 0 {
				t.Errorf("the record is %+v", row)
			}
			if c := receive(t, ended); c.ID != id || c.Outcome != connectors.OutcomeOK {
				t.Errorf("the metrics got %+v", c)
			}

			// A refusal of the server: its status and words are on record.
			b.remote.set(respondWith(http.StatusBadGateway, "out of paper"))
			_, err := b.call(t, trusted, c, `{"q":"y"}`)
			refused := asRefusal(t, err, toolcall.CodeUpstream)
			if row = b.row(t, refused.CallID); row.Outcome != connectors.OutcomeTransport || saidOf(row) != "out of paper" || row.Upstream.Status != http.StatusBadGateway || string(row.Arguments) != `{"q":"y"}` {
				t.Errorf("the record of the refusal is %+v, %+v", row, row.Upstream)
			}
			if c := receive(t, ended); c.ID != refused.CallID {
				t.Errorf("the metrics got %+v", c)
			}

			// Quota: the third call is not sent.
			_, err = b.call(t, trusted, c, `{"q":"z"}`)
			over := asRefusal(t, err, toolcall.CodeQuotaExceeded)
			b.remote.wantCalls(t, 2)
			if row = b.row(t, over.CallID); row.Outcome != connectors.OutcomeRefused || string(row.Arguments) != `{"q":"z"}` || refusals.Load() != 1 {
				t.Errorf("the record over the quota is %+v; %d refusals are counted", row, refusals.Load())
			}
			if c := receive(t, ended); c.ID != over.CallID || c.Outcome != connectors.OutcomeRefused {
				t.Errorf("the metrics got %+v", c)
			}
		})
	}
}

// The settings of a connector reach the API.
func TestTransport_SettingsOfAnAPI(t *testing.T) {
	t.Parallel()
	var requests atomic.Int32
	for name, tc := range map[string]struct {
		tool    string
		setting func(*connectors.Draft)
		answer  http.HandlerFunc
		refusal string // a part of the sentence; empty: the API's answer is the result
		result  string // a part
	}{
		"max_response_bytes": {"search", func(d *connectors.Draft) { d.ResponseBytes = connectors.MinResponseBytes }, func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, strings.Repeat("x", connectors.MinResponseBytes))
		}, "", "too large"},
		"timeout": {"search", func(d *connectors.Draft) { d.Timeout = connectors.MinTimeout }, func(_ http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
		}, "didn't respond within 1 second", ""},
		"retries": {"read", func(d *connectors.Draft) { d.RetryAttempts, d.RetryBackoff = 1, 50*time.Millisecond }, func(w http.ResponseWriter, _ *http.Request) {
			if requests.Add(1) == 1 {
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			_, _ = io.WriteString(w, "the second answer")
		}, "", "the second answer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, c := newTransportBench(t, connectors.TransportAPI, func(d *connectors.Draft) {
				d.Timeout, d.RetryAttempts = time.Minute, 0
				tc.setting(d)
			})
			b.remote.set(func(w http.ResponseWriter, r *http.Request, _ message) bool {
				tc.answer(w, r)
				return true
			})
			out, err := b.Call(t.Context(), b.order(t, b.process, b.newTrustedAgent(t, c), c, tc.tool, "{}"))
			if tc.refusal != "" {
				if refused := asRefusal(t, err, toolcall.CodeTimeout); !strings.Contains(refused.Sentence, tc.refusal) {
					t.Errorf("the refusal is %s", refused.Sentence)
				}
				return
			}
			must(t, err)
			if !strings.Contains(string(out.Raw), tc.result) {
				t.Errorf("the result is %.200s", out.Raw)
			}
		})
	}
}

// An API at a private address is not reached, and the model reads why.
func TestTransport_EgressOfAnAPI(t *testing.T) {
	t.Parallel()
	const want = "The address 10.1.2.3 is private. The operator can allow it in PATCHBAY_EGRESS_ALLOW."
	b, c := newTransportBench(t, connectors.TransportAPI, func(d *connectors.Draft) { d.ServerURL = "http://10.1.2.3" })
	_, err := b.call(t, b.newTrustedAgent(t, c), c, `{}`)
	refused := asRefusal(t, err, toolcall.CodeUpstream)
	if row := b.row(t, refused.CallID); refused.Sentence != want || row.ErrorMessage != want || row.Outcome != connectors.OutcomeTransport {
		t.Errorf("the refusal is %q, the record %+v", refused.Sentence, row)
	}
}
