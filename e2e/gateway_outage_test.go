//go:build e2e

package e2e_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
)

// newCounter is a server of the newest era with a tool that returns its argument.
func newCounter(t *testing.T) (url string) {
	t.Helper()
	return serve(t, counter(func(int) {}))
}

// counter answers as newCounter says. called hears of each number that the tool was called with.
func counter(called func(n int)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct{ Arguments struct{ N int } }
		}
		if json.Unmarshal(body, &m) != nil || m.ID == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		if m.Method == "tools/call" {
			called(m.Params.Arguments.N)
		}
		answer := map[string]string{
			"server/discover":          `"result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"prompts":{},"resources":{"subscribe":true}},"serverInfo":{"name":"counter","version":"1"},"resultType":"complete"}`,
			"tools/list":               `"result":{"tools":[{"name":"count","inputSchema":{"type":"object","properties":{"n":{"type":"integer"}}}}],"resultType":"complete","ttlMs":0,"cacheScope":"private"}`,
			"prompts/list":             `"result":{"prompts":[{"name":"greet"}],"resultType":"complete","ttlMs":0,"cacheScope":"private"}`,
			"prompts/get":              `"result":{"messages":[{"role":"user","content":{"type":"text","text":"greetings"}}],"resultType":"complete"}`,
			"resources/list":           `"result":{"resources":[{"name":"notes","uri":"file:///notes"}],"resultType":"complete","ttlMs":0,"cacheScope":"private"}`,
			"resources/templates/list": `"result":{"resourceTemplates":[],"resultType":"complete","ttlMs":0,"cacheScope":"private"}`,
			"tools/call":               fmt.Sprintf(`"result":{"content":[{"type":"text","text":"number %d"}],"resultType":"complete"}`, m.Params.Arguments.N),
		}[m.Method]
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,%s}`, m.ID, answer)
	}
}

// told is what a call was answered.
type told struct {
	status  int
	ok      bool // the result is the one of this call
	refused bool // a result or an error that says why there is none
}

// TestCalls_HistoryAgreesAfterOutage has PostgreSQL restarted in the middle of ten thousand calls: each is
// answered, and the history has each as it was answered.
func TestCalls_HistoryAgreesAfterOutage(t *testing.T) {
	t.Parallel()
	const calls, atOnce = 10_000, 16
	h := newHome(t)
	base := h.serve().base
	c := client{t: t, base: base, key: h.run("apikey", "create", "--tenant", "default", "--role", "owner", "--name", "tests")}
	c.must(http.StatusOK, http.MethodPatch, "/api/v1/tenant", object{"call_history": "full"})
	c.must(http.StatusCreated, http.MethodPost, "/api/v1/connectors", object{"name": "Counter", "url": newCounter(t)})
	c.must(http.StatusOK, http.MethodPost, "/connectors/counter/sync_tools", nil)
	a := c.hire("helper", "counter")

	answers := make([]told, calls)
	var next atomic.Int64
	var workers sync.WaitGroup
	for range atOnce {
		workers.Go(func() {
			for n := int(next.Add(1)); n <= calls; n = int(next.Add(1)) {
				if n == calls/3 {
					if err := syscall.Kill(h.postmaster(), syscall.SIGINT); err != nil {
						t.Error(err)
					}
				}
				answers[n-1] = a.count(n)
			}
		})
	}
	workers.Wait()
	counts := map[told]int{}
	for i, answer := range answers {
		counts[answer]++
		if answer.ok == answer.refused {
			t.Errorf("call %d was answered %+v", i+1, answer)
		}
	}
	t.Logf("answers: %v", counts)
	eventually(t, func() error { return agrees(c, answers) })
}

// count calls the counter's tool with a number.
func (a agent) count(n int) told {
	message, header := modern("tools/call", fmt.Sprintf(`"name":"mcp_counter__count","arguments":{"n":%d}`, n))
	status, _, r, err := a.try(a.t.Context(), "/mcp", message, header...)
	if err != nil {
		a.t.Errorf("call %d: %v", n, err)
		return told{status: status}
	}
	var result struct {
		Content []struct{ Text string }
		IsError bool
	}
	_ = json.Unmarshal(r.Result, &result)
	came := told{status: status, refused: r.Error != nil || result.IsError || status >= http.StatusBadRequest}
	came.ok = !came.refused && len(result.Content) == 1 && result.Content[0].Text == fmt.Sprintf("number %d", n)
	return came
}

// agrees reports differences between the history and the agent's responses. A call that the outage refused may
// be missing.
func agrees(c client, answers []told) error {
	seen := make([]int, len(answers))
	for path := "/api/v1/tool_calls?limit=200"; path != ""; {
		status, page, err := c.try(http.MethodGet, path, nil)
		if err != nil || status != http.StatusOK {
			return fmt.Errorf("the history is answered %d: %w", status, err)
		}
		items, _ := page["items"].([]any)
		for _, item := range items {
			call, _ := item.(object)
			if call["kind"] != "tool" {
				continue
			}
			arguments, _ := call["arguments"].(object)
			n, _ := arguments["n"].(float64)
			if n < 1 || int(n) > len(answers) {
				return fmt.Errorf("nobody called %v", call)
			}
			if good := call["status"] == "success"; good != answers[int(n)-1].ok {
				return fmt.Errorf("call %v was answered %+v, and the history has %v: %v", n, answers[int(n)-1], call["status"], call["error"])
			}
			seen[int(n)-1]++
		}
		path = ""
		if cursor, more := page["next_cursor"].(string); more {
			path = "/api/v1/tool_calls?limit=200&cursor=" + cursor
		}
	}
	var wrong error
	for i, times := range seen {
		if times > 1 || times == 0 && answers[i].ok {
			wrong = errors.Join(wrong, fmt.Errorf("call %d is in the history %d times", i+1, times))
		}
	}
	return wrong
}
