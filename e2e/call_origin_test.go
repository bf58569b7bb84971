//go:build e2e

package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
)

// relayed sends requests as a reverse proxy does, and stores the id of the last one from its response.
type relayed struct {
	from string // X-Forwarded-For

	mu   sync.Mutex
	last string // guarded by mu
}

func (f *relayed) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("X-Forwarded-For", f.from)
	res, err := localTransport.RoundTrip(r)
	if err == nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.last = res.Header.Get("X-Request-Id")
	}
	return res, err
}

func (f *relayed) id() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.last
}

// TestACallSaysWhereItCameFromAndWithWhichRequest makes calls by each door of the program, behind a proxy that the operator trusts.
func TestACallSaysWhereItCameFromAndWithWhichRequest(t *testing.T) {
	t.Parallel()
	_, s, owner, c := install(t, "PATCHBAY_EGRESS=local", "PATCHBAY_TRUSTED_PROXIES=127.0.0.0/8,10.0.0.0/8", "PATCHBAY_LOG_FORMAT=json")
	c.must(http.StatusOK, http.MethodPost, "/connectors/tools/sync_tools", nil)
	night := c.hire("night", "tools")
	came := map[string]string{} // by the request's id: its address
	gateway := func(from, given string, header ...string) {
		t.Helper()
		message, all := modern("tools/call", `"name":"mcp_tools__send_message","arguments":{"to":"#general","text":"Hello"}`)
		all = append(append(all, "X-Forwarded-For", from), header...)
		if given != "" {
			all = append(all, "X-Request-Id", given)
		}
		_, answered, r := night.send("/mcp", message, all...)
		id := answered.Get("X-Request-Id")
		if r.Error != nil || len(id) < 8 || given != "" && id != given {
			t.Fatalf("%+v, request %q", r.Error, id)
		}
		came[id] = from[strings.LastIndex(from, " ")+1:]
	}
	gateway("203.0.113.9", "")
	gateway("198.51.100.7, 203.0.113.10", "")
	gateway("2001:db8::9", "")
	gateway("203.0.113.11", "a-proxy.gave_this-1")
	gateway("203.0.113.12", "", "Pragma", "no-cache") // which net/http's server serves
	gateway("2001:db8::12", "", "Pragma", "no-cache")

	call := object{"tool": "mcp_tools__send_message", "arguments": object{"to": "#general", "text": "Hello"}}
	program := &relayed{from: "203.0.113.20"}
	c.via = program
	c.must(http.StatusCreated, http.MethodPost, "/api/v1/agents/night/tool_calls", call)
	byAPI := program.id()
	came[byAPI] = program.from

	browser := &relayed{from: "2001:db8::20"}
	owner.client.Transport = browser
	tried := owner.post(s.base+"/connectors/tools/tools/send_message/try", url.Values{"agent": {"night"}, "as": {"json"}, "json": {`{"to":"#general","text":"Hello"}`}})
	if tried.status != http.StatusOK {
		t.Fatalf("the dashboard answers %d: %s", tried.status, tried.body)
	}
	came[browser.id()] = browser.from

	// A waiting call belongs to the request that made it, whichever process and person decides.
	c.must(http.StatusOK, http.MethodPatch, "/api/v1/agents/night", object{"approval": "always_ask"})
	eventually(t, func() error {
		waits := c.must(http.StatusCreated, http.MethodPost, "/api/v1/agents/night/tool_calls", call)
		if waits["status"] != "pending_approval" {
			came[program.id()] = program.from
			return fmt.Errorf("it is %v", waits["status"])
		}
		came[program.id()] = program.from
		elsewhere := c
		elsewhere.via = &relayed{from: "203.0.113.30"}
		elsewhere.must(http.StatusOK, http.MethodPost, fmt.Sprintf("/api/v1/tool_calls/%v/approve", waits["id"]), nil)
		return nil
	})

	eventually(t, func() error { return c.cameFrom(came) })
	logged, _ := s.stderr.wait(byAPI, s.exited)
	var line struct {
		RequestID string `json:"request_id"`
		Address   string
	}
	if err := json.Unmarshal([]byte(logged), &line); err != nil || line.RequestID != byAPI || line.Address != "203.0.113.20" {
		t.Errorf("the log says %s (%v)", logged, err)
	}
}

// cameFrom reports whether the calls belong to these requests, and have ended.
func (c client) cameFrom(want map[string]string) error {
	items, _ := c.must(http.StatusOK, http.MethodGet, "/api/v1/tool_calls?limit=200", nil)["items"].([]any)
	for _, item := range items {
		call, _ := item.(object)
		id, _ := call["request_id"].(string)
		from, known := want[id]
		if !known || call["address"] != from {
			return fmt.Errorf("a call of the request %q came from %v, and not from %q", id, call["address"], from)
		}
		if call["completed_at"] == nil {
			return fmt.Errorf("a call has not ended: %v", call)
		}
	}
	if len(items) != len(want) {
		return fmt.Errorf("%d calls of %d requests", len(items), len(want))
	}
	return nil
}
