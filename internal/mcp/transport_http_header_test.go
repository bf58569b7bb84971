package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"

	"patchbay/internal/mcp"
	"patchbay/internal/mcp/mcptest"
)

// Concurrent calls share cached headers.
func TestCall_HeadersNameTheTool(t *testing.T) {
	t.Parallel()
	const tools, rounds = 20, 3
	for name, modern := range map[string]bool{"modern": true, "handshake": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			up := mcptest.Start(t, mcptest.Script{Modern: modern, SessionID: "s-1"})
			c := newClient(t)
			c.HTTP.Jar, _ = cookiejar.New(nil) // a cookie jar modifies headers
			if at, err := url.Parse(up.URL); err == nil {
				c.HTTP.Jar.SetCookies(at, []*http.Cookie{{Name: "a", Value: "b"}})
			}
			s, err := c.Dial(t.Context(), mcp.Target{URL: up.URL, Timeout: patience})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close(t.Context())
			var all sync.WaitGroup
			for i := range tools {
				all.Go(func() {
					for range rounds {
						_, _ = s.Call(t.Context(), mcp.Call{Name: fmt.Sprintf("tool-%d", i)}) // the server knows none of the tools
					}
				})
			}
			all.Wait()
			calls := 0
			for _, call := range up.Calls() {
				if call.Method != "tools/call" {
					continue
				}
				calls++
				var params struct{ Name string }
				if err := json.Unmarshal(call.Params, &params); err != nil {
					t.Fatal(err)
				}
				want := http.Header{"Content-Type": {"application/json"}, "Cookie": {"a=b"}, "Mcp-Method": {"tools/call"}, "Mcp-Name": {params.Name}, "Mcp-Protocol-Version": {"2026-07-28"}}
				if !modern {
					want = http.Header{"Content-Type": {"application/json"}, "Cookie": {"a=b"}, "Mcp-Session-Id": {"s-1"}, "Mcp-Protocol-Version": {"2025-11-25"}}
				}
				for _, header := range []string{"Content-Type", "Cookie", "Mcp-Method", "Mcp-Name", "Mcp-Protocol-Version", "Mcp-Session-Id"} {
					if got := call.Header.Values(header); fmt.Sprint(got) != fmt.Sprint(want.Values(header)) {
						t.Errorf("%s of a call of %s is %q", header, params.Name, got)
					}
				}
			}
			if calls != tools*rounds {
				t.Errorf("%d calls", calls)
			}
		})
	}
}

func TestCall_TraceContextIsNotCached(t *testing.T) {
	t.Parallel()
	up, c := mcptest.Start(t, mcptest.Script{Modern: true}), newClient(t)
	var parent atomic.Value
	parent.Store("")
	c.TraceContext = func(context.Context) (string, string) { return parent.Load().(string), "" } //nolint:forcetypeassert // stored above
	s, err := c.Dial(t.Context(), mcp.Target{URL: up.URL, Timeout: patience})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(t.Context())
	for _, of := range []string{"", "00-a", "00-b", ""} {
		parent.Store(of)
		_, _ = s.Call(t.Context(), mcp.Call{Name: "work"})
		calls := up.Calls()
		if got := calls[len(calls)-1].Header; got.Get("Traceparent") != of || got.Get("Mcp-Name") != "work" {
			t.Errorf("headers in trace %q: %v", of, got)
		}
	}
}
