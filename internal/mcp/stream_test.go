package mcp_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/mcp"
	"patchbay/internal/mcp/mcptest"
)

func events(text string) mcptest.Handler {
	return mcptest.Answer("text/event-stream", func(mcptest.Call) string { return text })
}

func TestResume_ContinuesFromLastEventID(t *testing.T) {
	t.Parallel()
	up := mcptest.Start(t, mcptest.Script{SessionID: "s", On: map[string]mcptest.Handler{
		"tools/call": events("id: e-1\nretry: 1500\ndata:\n\n"),
		"GET": func(w http.ResponseWriter, r *http.Request, c mcptest.Call) {
			if c.N == 1 {
				events("id: e-2\ndata: {\"method\":\"notifications/message\"}\n\n")(w, r, c)
				return
			}
			events("data: {\"id\":2,\"result\":{\"content\":[]}}\n\n")(w, r, c)
		},
	}})
	c := newClient(t)
	s, err := c.Dial(t.Context(), mcp.Target{URL: up.URL, Era: mcp.EraHandshake, Retries: 3})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(t.Context())
	heard := 0
	got, err := s.Call(t.Context(), mcp.Call{Name: "a", Message: func(mcp.Message) { heard++ }})
	if err != nil || string(got.Raw) != `{"content":[]}` || heard != 1 {
		t.Errorf("%+v after %d messages, error %v", got, heard, err)
	}
	want := []string{"initialize", "notifications/initialized", "tools/call", "GET", "GET"}
	if diff := cmp.Diff(want, up.Methods()); diff != "" {
		t.Fatalf("methods (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]time.Duration{1500 * time.Millisecond, 1500 * time.Millisecond}, c.pauses); diff != "" {
		t.Errorf("pauses (-want +got):\n%s", diff)
	}
	for i, mark := range []string{"e-1", "e-2"} {
		call := up.Calls()[3+i]
		if call.Header.Get("Last-Event-Id") != mark || call.Header.Get("Mcp-Session-Id") != "s" {
			t.Errorf("stream %d went on after %q", i, call.Header.Get("Last-Event-Id"))
		}
	}
}

func TestResume_GivesUp(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		modern bool
		cut    string
		get    mcptest.Handler
		gets   int
	}{
		"no such streams":    {false, "id: e-1\ndata:\n\n", mcptest.Status(405, ""), 1},
		"nothing new":        {false, "id: e-1\nretry: 1\ndata:\n\n", events("id: e-1\ndata:\n\n"), 5},
		"nothing at all":     {false, "", events(""), 0},
		"no id":              {false, ": ping\n\n", events(""), 0},
		"a hostile id":       {false, "id: e\x011\ndata:\n\n", events(""), 0},
		"a newer revision":   {true, "id: e-1\ndata:\n\n", events(""), 0},
		"ids without an end": {false, "id: e-1\nretry: 1\ndata:\n\n", nil, 300},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.get == nil {
				c.get = mcptest.Answer("text/event-stream", func(call mcptest.Call) string { return fmt.Sprintf("id: g-%d\ndata:\n\n", call.N) })
			}
			up := mcptest.Start(t, mcptest.Script{Modern: c.modern, On: map[string]mcptest.Handler{"tools/call": events(c.cut), "GET": c.get}})
			_, err := dial(t, mcp.Target{URL: up.URL}).Call(t.Context(), mcp.Call{Name: "a"})
			want := errorFacts{Phase: mcp.PhaseCall, Reason: mcp.ReasonProtocol, HTTP: 200, Detail: "closed the stream before replying", Retryable: true}
			if diff := cmp.Diff(want, newErrorFacts(t, err)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if n := countRequests(up, "GET"); n != c.gets || countRequests(up, "tools/call") != 1 {
				t.Errorf("%d streams were asked for, want %d", n, c.gets)
			}
		})
	}
}

func newAnnouncingHandler(text string) mcptest.Handler {
	return func(w http.ResponseWriter, r *http.Request, _ mcptest.Call) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, mcptest.Event(text))
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}
}

func TestListen_DeliversChanges(t *testing.T) {
	t.Parallel()
	const changed = `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`
	for _, script := range []mcptest.Script{
		{SessionID: "s", On: map[string]mcptest.Handler{"GET": newAnnouncingHandler(changed)}},
		{Modern: true, On: map[string]mcptest.Handler{"subscriptions/listen": newAnnouncingHandler(changed)}},
	} {
		up := mcptest.Start(t, script)
		ctx, cancel := context.WithCancel(t.Context())
		var heard []string
		err := dial(t, mcp.Target{URL: up.URL}).Listen(ctx, func() {}, func(m mcp.Message) {
			heard = append(heard, m.Method)
			cancel()
		})
		if err != nil || len(heard) != 1 || heard[0] != "notifications/tools/list_changed" {
			t.Errorf("modern %v: heard %v, error %v", script.Modern, heard, err)
		}
	}
}

func TestListen_UnsupportedIsAnError(t *testing.T) {
	t.Parallel()
	for _, status := range []int{405, 404, 400} {
		up := mcptest.Start(t, mcptest.Script{SessionID: "s", On: map[string]mcptest.Handler{"GET": mcptest.Status(status, "")}})
		s := dial(t, mcp.Target{URL: up.URL})
		err := s.Listen(t.Context(), func() {}, func(mcp.Message) {})
		if f := newErrorFacts(t, err); f.Phase != mcp.PhaseListen || f.HTTP != status {
			t.Errorf("%d: %+v", status, f)
		}
		s.Close(t.Context())
		if countRequests(up, "initialize") != 1 || countRequests(up, "DELETE") != 1 {
			t.Errorf("%d: %v", status, up.Methods())
		}
	}
}
