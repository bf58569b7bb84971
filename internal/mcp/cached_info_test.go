package mcp_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"patchbay/internal/mcp"
	"patchbay/internal/mcp/mcptest"
)

var known = mcp.CachedServerInfo{
	Server:       mcp.ServerInfo{Name: "known", Version: "0.9", ProtocolVersion: "2026-07-28", Instructions: "Be quick."},
	Capabilities: []byte(`{"tools":{}}`),
}

func TestKnownServer_OnlyListsTools(t *testing.T) {
	t.Parallel()
	server, want := sdkServer(30)
	var requests atomic.Int64
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, &sdk.StreamableHTTPOptions{Stateless: true})
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(up.Close)
	first := dial(t, mcp.Target{URL: up.URL})
	list, err := first.Tools(t.Context())
	if err != nil || first.Era() != mcp.EraModern || !list.Modern || first.UsesCachedInfo() {
		t.Fatalf("era %q, modern %v, recalled %v, %v", first.Era(), list.Modern, first.UsesCachedInfo(), err)
	}
	first.Close(t.Context())

	before := requests.Load()
	again := dial(t, mcp.Target{URL: up.URL, Era: mcp.EraModern, Known: &mcp.CachedServerInfo{Server: first.Server(), Capabilities: first.Capabilities()}})
	list, err = again.Tools(t.Context())
	again.Close(t.Context())
	if n := requests.Load() - before; err != nil || n != 1 || len(list.Tools) != len(want) || !again.UsesCachedInfo() {
		t.Errorf("%d requests for %d tools, recalled %v, %v", n, len(list.Tools), again.UsesCachedInfo(), err)
	}
	if diff := cmp.Diff(first.Server(), again.Server()); diff != "" || string(again.Capabilities()) != string(first.Capabilities()) {
		t.Errorf("server (-asked +recalled):\n%s", diff)
	}
}

func TestKnownServer_StaleInfoIsRediscovered(t *testing.T) {
	t.Parallel()
	refuseOnce := func(answer mcptest.Handler) map[string]mcptest.Handler {
		return map[string]mcptest.Handler{"tools/list": func(w http.ResponseWriter, r *http.Request, c mcptest.Call) {
			if c.N == 1 {
				answer(w, r, c)
				return
			}
			mcptest.Answer("application/json", func(c mcptest.Call) string {
				return mcptest.Result(c, `{"resultType":"complete","tools":[{"name":"a"}]}`)
			})(w, r, c)
		}}
	}
	answers := func(reply func(c mcptest.Call) string) mcptest.Handler {
		return mcptest.Answer("application/json", reply)
	}
	asked := []string{"tools/list", "server/discover", "tools/list"}
	shaken := []string{"tools/list", "server/discover", "initialize", "notifications/initialized", "tools/list", http.MethodDelete}
	for name, c := range map[string]struct {
		script mcptest.Script
		era    mcp.Era
		want   []string
	}{
		"it speaks another version": {mcptest.Script{Modern: true, On: refuseOnce(mcptest.Status(400,
			`{"jsonrpc":"2.0","id":null,"error":{"code":-32022,"message":"no","data":{"supported":["2026-07-28"]}}}`))}, mcp.EraModern, asked},
		"it answers in another way": {mcptest.Script{Modern: true, On: refuseOnce(answers(func(c mcptest.Call) string {
			return mcptest.Result(c, `{"tools":[{"name":"old"}]}`)
		}))}, mcp.EraModern, asked},
		"it makes no sense":         {mcptest.Script{Modern: true, On: refuseOnce(mcptest.Status(200, "<html>", "Content-Type", "text/html"))}, mcp.EraModern, asked},
		"it is gone from there":     {mcptest.Script{Modern: true, On: refuseOnce(mcptest.Status(404, ""))}, mcp.EraModern, asked},
		"it wants a handshake":      {mcptest.Script{SessionID: "s", Tools: mcptest.Tools(1)}, mcp.EraHandshake, shaken},
		"it wants no handshake now": {mcptest.Script{Tools: mcptest.Tools(1)}, mcp.EraHandshake, shaken[:5]},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			up := mcptest.Start(t, c.script)
			s := dial(t, mcp.Target{URL: up.URL, Era: mcp.EraModern, Known: &known})
			list, err := s.Tools(t.Context())
			s.Close(t.Context())
			if err != nil || len(list.Tools) != 1 || list.Tools[0].Name == "old" || s.Era() != c.era || s.UsesCachedInfo() {
				t.Errorf("%d tools in era %q, recalled %v, error %v", len(list.Tools), s.Era(), s.UsesCachedInfo(), err)
			}
			if diff := cmp.Diff(c.want, up.Methods()); diff != "" {
				t.Errorf("methods (-want +got):\n%s", diff)
			}
			if s.Server().Name != "mcptest" {
				t.Errorf("server = %+v", s.Server())
			}
		})
	}
}

func TestKnownServer_DownIsNotAskedTwice(t *testing.T) {
	t.Parallel()
	for status, reason := range map[int]mcp.Reason{503: mcp.ReasonHTTPStatus, 401: mcp.ReasonUnauthorized} {
		up := mcptest.Start(t, mcptest.Script{Modern: true, On: map[string]mcptest.Handler{"tools/list": mcptest.Status(status, "")}})
		s := dial(t, mcp.Target{URL: up.URL, Era: mcp.EraModern, Known: &known})
		_, err := s.Tools(t.Context())
		if got := newErrorFacts(t, err); got.Reason != reason || !slices.Equal(up.Methods(), []string{"tools/list"}) {
			t.Errorf("%d: %+v after %v", status, got, up.Methods())
		}
	}
}

func TestKnownServer_UnsupportedVersionIsIgnored(t *testing.T) {
	t.Parallel()
	up := mcptest.Start(t, mcptest.Script{Modern: true, Tools: mcptest.Tools(1)})
	old := known
	old.Server.ProtocolVersion = "2026-01-01"
	for _, target := range []mcp.Target{{Era: mcp.EraModern, Known: &old}, {Known: &known}} {
		target.URL = up.URL
		if s := dial(t, target); s.UsesCachedInfo() || s.Server().Name != "mcptest" {
			t.Errorf("recalled %+v", s.Server())
		}
	}
}
