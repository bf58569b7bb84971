package mcp_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/mcp"
	"patchbay/internal/mcp/mcptest"
)

func dial(t testing.TB, target mcp.Target) *mcp.Session {
	t.Helper()
	if target.Timeout == 0 {
		target.Timeout = patience
	}
	s, err := newClient(t).Dial(t.Context(), target)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(t.Context()) })
	return s
}

func TestModernServer_IsDetectedByOneRequest(t *testing.T) {
	t.Parallel()
	for _, stream := range []bool{false, true} {
		up := mcptest.Start(t, mcptest.Script{Modern: true, Stream: stream, Tools: mcptest.Tools(3), PageSize: 2})
		s := dial(t, mcp.Target{URL: up.URL})
		list, err := s.Tools(t.Context())
		if err != nil || len(list.Tools) != 3 || s.Era() != mcp.EraModern {
			t.Fatalf("%d tools in era %q, error %v", len(list.Tools), s.Era(), err)
		}
		want := mcp.ServerInfo{Name: "mcptest", Version: "1.0", Title: "A scripted server", ProtocolVersion: "2026-07-28", Instructions: "Be kind."}
		if diff := cmp.Diff(want, s.Server()); diff != "" {
			t.Errorf("server (-want +got):\n%s", diff)
		}
		s.Close(t.Context())
		if diff := cmp.Diff([]string{"server/discover", "tools/list", "tools/list"}, up.Methods()); diff != "" {
			t.Errorf("methods (-want +got):\n%s", diff)
		}
	}
}

func TestModernRequests_CarryClientInfo(t *testing.T) {
	t.Parallel()
	up := mcptest.Start(t, mcptest.Script{Modern: true, Tools: mcptest.Tools(1)})
	s := dial(t, mcp.Target{URL: up.URL, Capabilities: json.RawMessage(`{"elicitation":{}}`)})
	if _, err := s.Tools(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, call := range up.Calls() {
		want := `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
			`"io.modelcontextprotocol/clientInfo":{"name":"patchbay","version":"1.2.3"},` +
			`"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}}`
		if string(call.Params) != want {
			t.Errorf("%s: params %s, want %s", call.Method, call.Params, want)
		}
		if got := call.Header.Get("Mcp-Protocol-Version") + " " + call.Header.Get("Mcp-Method"); got != "2026-07-28 "+call.Method {
			t.Errorf("%s: headers %q", call.Method, got)
		}
	}
}

func TestProbe_FallsBackToHandshake(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]mcptest.Handler{
		"an unknown method":       nil,
		"an empty result":         mcptest.Answer("application/json", func(c mcptest.Call) string { return mcptest.Result(c, `{}`) }),
		"an error of its own":     mcptest.Answer("application/json", func(c mcptest.Call) string { return mcptest.Failure(c, -32000, "Server not initialized") }),
		"only older versions":     mcptest.Answer("application/json", func(c mcptest.Call) string { return mcptest.Result(c, `{"supportedVersions":["2025-11-25"]}`) }),
		"a missing session":       mcptest.Status(400, `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"No valid session ID provided"}}`),
		"a refusal":               mcptest.Status(401, "", "WWW-Authenticate", "Bearer"),
		"nothing, accepted":       mcptest.Status(202, ""),
		"HTML":                    mcptest.Status(200, "<html>", "Content-Type", "text/html"),
		"a problem":               mcptest.Status(500, ""),
		"a connection that ends":  func(http.ResponseWriter, *http.Request, mcptest.Call) { panic(http.ErrAbortHandler) },
		"a reply to another call": mcptest.Answer("application/json", func(mcptest.Call) string { return `{"id":99,"result":{}}` }),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			script := mcptest.Script{Tools: mcptest.Tools(1), SessionID: "s", On: map[string]mcptest.Handler{}}
			if answer != nil {
				script.On["server/discover"] = answer
			}
			up := mcptest.Start(t, script)
			s := dial(t, mcp.Target{URL: up.URL})
			list, err := s.Tools(t.Context())
			if err != nil || len(list.Tools) != 1 || s.Era() != mcp.EraHandshake {
				t.Errorf("%d tools in era %q, error %v", len(list.Tools), s.Era(), err)
			}
			want := []string{"server/discover", "initialize", "notifications/initialized", "tools/list"}
			if diff := cmp.Diff(want, up.Methods()); diff != "" {
				t.Errorf("methods (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOpen_TriesRememberedEraFirst(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script mcptest.Script
		era    mcp.Era
		want   string
		is     mcp.Era
	}{
		"still old":     {mcptest.Script{}, mcp.EraHandshake, "initialize notifications/initialized", mcp.EraHandshake},
		"modern by now": {mcptest.Script{Modern: true}, mcp.EraHandshake, "initialize server/discover", mcp.EraModern},
		"old again":     {mcptest.Script{}, mcp.EraModern, "server/discover initialize notifications/initialized", mcp.EraHandshake},
		"gone from SSE": {mcptest.Script{}, mcp.EraSSE, "GET server/discover initialize notifications/initialized", mcp.EraHandshake},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			up := mcptest.Start(t, c.script)
			s := dial(t, mcp.Target{URL: up.URL, Era: c.era})
			if got := strings.Join(up.Methods(), " "); got != c.want || s.Era() != c.is {
				t.Errorf("%q, era %q; want %q, era %q", got, s.Era(), c.want, c.is)
			}
		})
	}
}

// A server that speaks both eras is not opened in the older one because of an outage.
func TestOpen_OutageDoesNotChangeTheEra(t *testing.T) {
	t.Parallel()
	for name, outage := range map[string]mcptest.Handler{
		"503":                    mcptest.Status(503, ""),
		"429":                    mcptest.Status(429, ""),
		"a connection that ends": func(http.ResponseWriter, *http.Request, mcptest.Call) { panic(http.ErrAbortHandler) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var up *mcptest.Server
			up = mcptest.Start(t, mcptest.Script{Modern: true, On: map[string]mcptest.Handler{
				"server/discover": mcptest.First(1, outage, func(w http.ResponseWriter, r *http.Request, c mcptest.Call) { up.Default(w, r, c) }),
				"initialize": mcptest.Answer("application/json", func(c mcptest.Call) string {
					return mcptest.Result(c, `{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"both","version":"1"}}`)
				}),
			}})
			s := dial(t, mcp.Target{URL: up.URL, Era: mcp.EraModern})
			if diff := cmp.Diff([]string{"server/discover", "server/discover"}, up.Methods()); diff != "" || s.Era() != mcp.EraModern {
				t.Errorf("era %q, methods (-want +got):\n%s", s.Era(), diff)
			}
		})
	}
}

func TestModernServer_NamedVersionIsUsed(t *testing.T) {
	t.Parallel()
	var up *mcptest.Server
	up = mcptest.Start(t, mcptest.Script{Modern: true, On: map[string]mcptest.Handler{
		"server/discover": mcptest.First(1, func(w http.ResponseWriter, r *http.Request, c mcptest.Call) {
			mcptest.Status(400, `{"jsonrpc":"2.0","id":`+string(c.ID)+`,"error":{"code":-32022,"message":"no","data":{"supported":["2027-01-01","2026-07-28"]}}}`)(w, r, c)
		}, func(w http.ResponseWriter, r *http.Request, c mcptest.Call) { up.Default(w, r, c) }),
	}})
	s := dial(t, mcp.Target{URL: up.URL})
	if diff := cmp.Diff([]string{"server/discover", "server/discover"}, up.Methods()); diff != "" || s.Era() != mcp.EraModern {
		t.Errorf("era %q, methods (-want +got):\n%s", s.Era(), diff)
	}
}

func TestModernServer_UnknownVersionIsAnError(t *testing.T) {
	t.Parallel()
	up := mcptest.Start(t, mcptest.Script{On: map[string]mcptest.Handler{
		"server/discover": mcptest.Answer("application/json", func(c mcptest.Call) string {
			return mcptest.Result(c, `{"supportedVersions":["2031-01-01","<b>"]}`)
		}),
	}})
	_, err := newClient(t).Dial(t.Context(), mcp.Target{URL: up.URL})
	want := errorFacts{Phase: mcp.PhaseDiscover, Reason: mcp.ReasonUnsupportedVersion, HTTP: 200, RPC: -32022,
		Detail: "we offered MCP 2026-07-28, the server supports 2031-01-01, an invalid version"}
	if diff := cmp.Diff(want, newErrorFacts(t, err)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Runs in a synctest bubble: a modern server with a slow start.
func TestSlowModernServer_IsDetectedAfterHandshake(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		transport := roundTrip(func(r *http.Request) (*http.Response, error) {
			if r.Method == http.MethodDelete {
				return response(r, 405, ""), nil
			}
			if asked++; asked == 1 {
				<-r.Context().Done()
				return nil, r.Context().Err()
			}
			if r.Header.Get("Mcp-Method") == "" {
				return response(r, 400, `{"error":{"code":-32020,"message":"no"}}`), nil
			}
			return response(r, 200, `{"id":3,"result":{"supportedVersions":["2026-07-28"]}}`), nil
		})
		d := &mcp.Dialer{HTTP: &http.Client{Transport: transport}}
		began := time.Now()
		s, err := d.Dial(t.Context(), mcp.Target{URL: "https://mcp.example.com/", Timeout: 20 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); s.Era() != mcp.EraModern || took != 3*time.Second {
			t.Errorf("era %q after %v", s.Era(), took)
		}
		s.Close(t.Context())
	})
}

func TestTools_CacheHintsAreRead(t *testing.T) {
	t.Parallel()
	pages := map[string]string{
		"-": `{"resultType":"complete","ttlMs":60000,"cacheScope":"public","tools":[],"nextCursor":"x"}`,
		"x": `{"resultType":"complete","ttlMs":5000,"cacheScope":"private","tools":[]}`,
	}
	script := newPagedScript(pages)
	script.Modern = true
	up := mcptest.Start(t, script)
	list, err := dial(t, mcp.Target{URL: up.URL}).Tools(t.Context())
	if err != nil || list.TTL != 5*time.Second || list.Scope != "private" {
		t.Errorf("kept for %v, %q, error %v", list.TTL, list.Scope, err)
	}
}

func TestResult_UnknownTypeIsRefused(t *testing.T) {
	t.Parallel()
	script := newPagedScript(map[string]string{"-": `{"resultType":"riddle","tools":[]}`})
	script.Modern = true
	up := mcptest.Start(t, script)
	_, err := dial(t, mcp.Target{URL: up.URL}).Tools(t.Context())
	if f := newErrorFacts(t, err); f.Detail != "sent an unknown result type" {
		t.Errorf("%+v", f)
	}
}
