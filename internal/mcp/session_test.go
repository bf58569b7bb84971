package mcp_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/mcp"
	"patchbay/internal/mcp/mcptest"
)

func TestSession_RequestsAreInOrder(t *testing.T) {
	t.Parallel()
	for _, stream := range []bool{false, true} {
		up, list, err := syncScript(t, mcptest.Script{Tools: mcptest.Tools(3), SessionID: "s-1", Stream: stream})
		if err != nil || len(list.Tools) != 3 || list.Pages != 1 {
			t.Fatalf("list %+v, error %v", list, err)
		}
		want := []string{"initialize", "notifications/initialized", "tools/list", "DELETE"}
		if diff := cmp.Diff(want, up.Methods()); diff != "" {
			t.Errorf("stream %v: methods (-want +got):\n%s", stream, diff)
		}
	}
}

func TestClose_WithoutSessionSendsNoDelete(t *testing.T) {
	t.Parallel()
	up, _, err := syncScript(t, mcptest.Script{})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"initialize", "notifications/initialized", "tools/list"}
	if diff := cmp.Diff(want, up.Methods()); diff != "" {
		t.Errorf("methods (-want +got):\n%s", diff)
	}
}

func TestRequests_CarryProtocolHeaders(t *testing.T) {
	t.Parallel()
	up := mcptest.Start(t, mcptest.Script{SessionID: "s-1", Version: "2025-06-18"})
	_, _, err := newClient(t).sync(t, mcp.Target{URL: up.URL, Header: http.Header{
		"Authorization": {"Bearer t"}, "X-Team": {"eu"}, "User-Agent": {"other"}, "Accept": {"image/png"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for i, call := range up.Calls() {
		got := map[string]string{}
		for _, name := range []string{"Authorization", "X-Team", "User-Agent", "Accept", "Content-Type", "Mcp-Session-Id", "Mcp-Protocol-Version"} {
			got[name] = strings.Join(call.Header.Values(name), "|")
		}
		want := map[string]string{
			"Authorization": "Bearer t", "X-Team": "eu", "User-Agent": "patchbay/1.2.3",
			"Accept": "application/json, text/event-stream", "Content-Type": "application/json",
			"Mcp-Session-Id": "s-1", "Mcp-Protocol-Version": "2025-06-18",
		}
		if call.Method == "initialize" {
			want["Mcp-Session-Id"], want["Mcp-Protocol-Version"] = "", ""
		}
		if call.Method == http.MethodDelete {
			want["Content-Type"] = ""
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("call %d, %s (-want +got):\n%s", i, call.Method, diff)
		}
	}
}

func TestInitialize_CarriesClientInfo(t *testing.T) {
	t.Parallel()
	up, _, err := syncScript(t, mcptest.Script{})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"patchbay","version":"1.2.3"}}`
	if got := string(up.Calls()[0].Params); got != want {
		t.Errorf("params %s, want %s", got, want)
	}
}

func TestInitialize_ServerInfoIsStored(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"} {
		up := mcptest.Start(t, mcptest.Script{Version: version})
		info, _, err := newClient(t).sync(t, mcp.Target{URL: up.URL})
		if err != nil {
			t.Fatalf("%s: %v", version, err)
		}
		want := mcp.ServerInfo{
			Name: "mcptest", Version: "1.0", Title: "A scripted server", ProtocolVersion: version, Instructions: "Be kind.",
		}
		if diff := cmp.Diff(want, info); diff != "" {
			t.Errorf("info (-want +got):\n%s", diff)
		}
	}
}

func TestServerInfo_IsValidForPostgres(t *testing.T) {
	t.Parallel()
	up := mcptest.Start(t, mcptest.Script{On: map[string]mcptest.Handler{
		"initialize": mcptest.Answer("application/json", func(c mcptest.Call) string {
			return mcptest.Result(c, `{"protocolVersion":"2025-11-25","serverInfo":{"name":"a\u0000b\ud800","version":"`+
				strings.Repeat("ü", 600)+`"}}`)
		}),
	}})
	info, _, err := newClient(t).sync(t, mcp.Target{URL: up.URL})
	if err != nil || info.Name != "ab\ufffd" || info.Version != strings.Repeat("ü", 512) {
		t.Errorf("info %+v, error %v", info, err)
	}
}

func TestSessionID_InvalidIsRefused(t *testing.T) {
	t.Parallel()
	for id, fine := range map[string]bool{
		"!~": true, strings.Repeat("x", 128): true,
		strings.Repeat("x", 129): false, "a b": false, "ä": false, "a\tb": false,
	} {
		_, _, err := syncScript(t, mcptest.Script{SessionID: id})
		if fine != (err == nil) {
			t.Errorf("%q: %v", id, err)
		}
		if err != nil {
			want := errorFacts{Phase: mcp.PhaseInitialize, Reason: mcp.ReasonProtocol,
				Detail: "sent a session ID that isn't 1–128 visible ASCII characters"}
			if diff := cmp.Diff(want, newErrorFacts(t, err)); diff != "" {
				t.Errorf("%q (-want +got):\n%s", id, diff)
			}
		}
	}
}

// newForgetfulScript issues sessions s-1, s-2, … and loses the first after one page.
func newForgetfulScript(refusal mcptest.Handler) mcptest.Script {
	return mcptest.Script{On: map[string]mcptest.Handler{
		"initialize": func(w http.ResponseWriter, r *http.Request, c mcptest.Call) {
			w.Header().Set("Mcp-Session-Id", fmt.Sprintf("s-%d", c.N))
			mcptest.Answer("application/json", func(c mcptest.Call) string {
				return mcptest.Result(c, `{"protocolVersion":"2025-11-25"}`)
			})(w, r, c)
		},
		"tools/list": func(w http.ResponseWriter, r *http.Request, c mcptest.Call) {
			next := `,"nextCursor":"2"`
			if strings.Contains(string(c.Params), "cursor") {
				if c.Header.Get("Mcp-Session-Id") == "s-1" {
					refusal(w, r, c)
					return
				}
				next = ""
			}
			mcptest.Answer("application/json", func(c mcptest.Call) string {
				return mcptest.Result(c, fmt.Sprintf(`{"tools":[{"name":"tool_%d"}]%s}`, len(next), next))
			})(w, r, c)
		},
	}}
}

func TestTools_LostSessionRestartsList(t *testing.T) {
	t.Parallel()
	for name, refusal := range map[string]mcptest.Handler{
		"404":                    mcptest.Status(404, ""),
		"400 naming the session": mcptest.Status(400, "Bad Request: unknown Session ID"),
		"401 naming the session": mcptest.Status(401, `{"error":"session expired"}`),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			up, list, err := syncScript(t, newForgetfulScript(refusal))
			if err != nil || names(list) != "tool_17 tool_0" || len(list.Quarantined) != 0 || list.Pages != 2 {
				t.Errorf("list %+v, error %v", list, err)
			}
			want := []string{
				"initialize", "notifications/initialized", "tools/list", "tools/list",
				"initialize", "notifications/initialized", "tools/list", "tools/list", "DELETE",
			}
			if diff := cmp.Diff(want, up.Methods()); diff != "" {
				t.Errorf("methods (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTools_SessionLostTwiceIsAnError(t *testing.T) {
	t.Parallel()
	up, _, err := syncScript(t, mcptest.Script{SessionID: "s", On: map[string]mcptest.Handler{"tools/list": mcptest.Status(404, "")}})
	want := errorFacts{Phase: mcp.PhaseList, Reason: mcp.ReasonHTTPStatus, HTTP: 404}
	if diff := cmp.Diff(want, newErrorFacts(t, err)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := strings.Count(strings.Join(up.Methods(), " "), "initialize "); got != 2 {
		t.Errorf("%d sessions in %v, want 2", got, up.Methods())
	}
}

func TestTools_OtherErrorsDoNotReopenSession(t *testing.T) {
	t.Parallel()
	up, _, err := syncScript(t, mcptest.Script{SessionID: "s", On: map[string]mcptest.Handler{"tools/list": mcptest.Status(401, "token expired")}})
	if newErrorFacts(t, err).Reason != mcp.ReasonUnauthorized || len(up.Methods()) != 4 {
		t.Errorf("error %v after %v", err, up.Methods())
	}
}

func TestDial_ClosesUnusableSession(t *testing.T) {
	t.Parallel()
	up, _, err := syncScript(t, mcptest.Script{SessionID: "s", Version: "1999-01-01"})
	if newErrorFacts(t, err).Reason != mcp.ReasonUnsupportedVersion {
		t.Errorf("error %v", err)
	}
	if diff := cmp.Diff([]string{"initialize", "DELETE", "server/discover"}, up.Methods()); diff != "" {
		t.Errorf("methods (-want +got):\n%s", diff)
	}
}

func TestObserve_ReportsProgress(t *testing.T) {
	t.Parallel()
	up := mcptest.Start(t, mcptest.Script{SessionID: "s", Tools: mcptest.Tools(5), PageSize: 2})
	var got []mcp.Progress
	_, _, err := newClient(t).sync(t, mcp.Target{URL: up.URL, Observe: func(p mcp.Progress) { got = append(got, p) }})
	if err != nil {
		t.Fatal(err)
	}
	want := []mcp.Progress{
		{Phase: mcp.PhaseConnect}, {Phase: mcp.PhaseInitialize}, {Phase: mcp.PhaseInitialized}, {Phase: mcp.PhaseList},
		{Phase: mcp.PhaseList, Page: 1, Tools: 2}, {Phase: mcp.PhaseList, Page: 2, Tools: 4},
		{Phase: mcp.PhaseList, Page: 3, Tools: 5}, {Phase: mcp.PhaseClose},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("progress (-want +got):\n%s", diff)
	}
}

func TestDial_InvalidTargetIsRefused(t *testing.T) {
	t.Parallel()
	for _, target := range []mcp.Target{{URL: "::"}, {URL: "/mcp"}, {URL: "http://127.0.0.1:1/", Transport: "carrier_pigeon"}} {
		_, err := newClient(t).Dial(t.Context(), target)
		if f := newErrorFacts(t, err); f.Phase != mcp.PhaseConnect || f.Retryable {
			t.Errorf("%+v: %+v", target, f)
		}
	}
}

// blockedByPolicy is the error of a client with egress rules.
type blockedByPolicy struct{}

func (blockedByPolicy) Error() string   { return "blocked" }
func (blockedByPolicy) Permanent() bool { return true }

type refusingTransport struct{ tries atomic.Int32 }

func (r *refusingTransport) RoundTrip(*http.Request) (*http.Response, error) {
	r.tries.Add(1)
	return nil, blockedByPolicy{}
}

func TestDial_PermanentErrorIsNotRetried(t *testing.T) {
	t.Parallel()
	transport := &refusingTransport{}
	d := &mcp.Dialer{HTTP: &http.Client{Transport: transport}}
	_, err := d.Dial(t.Context(), mcp.Target{URL: "https://mcp.example.com/", Retries: 3})
	if f := newErrorFacts(t, err); f.Reason != mcp.ReasonUnreachable || f.Retryable || transport.tries.Load() != 1 {
		t.Errorf("%+v after %d tries", f, transport.tries.Load())
	}
	if strings.Contains(err.Error(), "example.com") {
		t.Errorf("the URL stands in %v", err)
	}
}
