//go:build e2e

package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// countingProxy forwards to a server, and counts its calls.
type countingProxy struct {
	url   string
	calls atomic.Int64
}

func newCountingProxy(t *testing.T, to string) *countingProxy {
	t.Helper()
	address, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	p := &countingProxy{}
	forward := &httputil.ReverseProxy{Transport: localTransport, FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(&url.URL{Scheme: address.Scheme, Host: address.Host})
	}}
	p.url = serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if bytes.Contains(body, []byte(`"tools/call"`)) {
			p.calls.Add(1)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		forward.ServeHTTP(w, r)
	}))
	p.url = strings.TrimSuffix(p.url, "/") + address.Path
	return p
}

const researchTool = "mcp_everything__simulate-research-query"

// TestTask_OfEverythingForEachClient calls a tool that server-everything only runs as a task.
func TestTask_OfEverythingForEachClient(t *testing.T) {
	t.Parallel()
	up := newCountingProxy(t, startEverything(t))
	h := newHome(t)
	c := client{t: t, base: h.serve().base, key: h.run("apikey", "create", "--tenant", "default", "--role", "admin", "--name", "test")}
	c.must(http.StatusCreated, http.MethodPost, "/api/v1/connectors", object{"name": "Everything", "url": up.url})
	c.must(http.StatusOK, http.MethodPost, "/connectors/everything/sync_tools", nil)
	a := c.hire("helper", "everything")

	message, header := modern("tools/call", fmt.Sprintf(`"name":%q,"arguments":{"topic":"bees"}`, researchTool))
	if _, _, r := a.send("/mcp", message, header...); r.Error != nil || !strings.Contains(string(r.Result), "Research Report: bees") {
		t.Errorf("without tasks: %+v %s", r.Error, r.Result)
	}
	for ambiguous, want := range map[bool]string{false: "Research Report: ants", true: "ants (technical)"} {
		arguments := fmt.Sprintf(`{"topic":"ants","ambiguous":%t}`, ambiguous)
		got := runTaskClient(t, a.base+"/mcp", a.token, researchTool, arguments)
		if got.Error != "" || got.Support != "optional" || len(got.Result.Content) == 0 || !strings.Contains(got.Result.Content[0].Text, want) {
			t.Errorf("ambiguous %t: %+v", ambiguous, got)
		}
		if slices.Contains(got.Statuses, "input_required") != ambiguous || got.ID == "" || len(got.Listed) == 0 || got.Listed[0] != (listedTask{got.ID, "completed"}) {
			t.Errorf("ambiguous %t: statuses %q, id %s, listed %+v", ambiguous, got.Statuses, got.ID, got.Listed)
		}
	}
	modernClient := a.beginResearch("wasps")
	modernClient.pollUntil("input_required")
	modernClient.answerQuestion()
	if modernClient.pollUntil("completed"); !strings.Contains(modernClient.last, "wasps (technical)") {
		t.Errorf("of 2026-07-28: %s", modernClient.last)
	}
	if n := up.calls.Load(); n != 4 {
		t.Errorf("%d calls arrived, want 4", n)
	}
}

type listedTask struct{ ID, Status string }

// taskTranscript is what peers/tasks.mjs prints.
type taskTranscript struct {
	Support, ID, Error string
	Statuses           []string
	Result             struct{ Content []struct{ Text string } }
	Listed             []listedTask
}

func runTaskClient(t *testing.T, args ...string) (got taskTranscript) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, node(), append([]string{"peers/tasks.mjs"}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("tasks.mjs: %v", err)
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return got
}

// TestTask_SurvivesKill kills Patchbay in the middle of a task, which server-everything knows in one session only.
func TestTask_SurvivesKill(t *testing.T) {
	t.Parallel()
	up := newCountingProxy(t, startEverything(t))
	h := newHome(t)
	server := h.serve()
	c := client{t: t, base: server.base, key: h.run("apikey", "create", "--tenant", "default", "--role", "admin", "--name", "test")}
	c.must(http.StatusCreated, http.MethodPost, "/api/v1/connectors", object{"name": "Everything", "url": up.url})
	c.must(http.StatusOK, http.MethodPost, "/connectors/everything/sync_tools", nil)
	a := c.hire("helper", "everything")
	header := []string{"Mcp-Session-Id", a.initialize(), "Mcp-Protocol-Version", "2025-11-25"}
	ask := func(method, params string) reply {
		_, _, r := a.send("/mcp", fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s}}`, method, params), header...)
		if r.Error != nil {
			t.Fatalf("%s: %+v", method, r.Error)
		}
		return r
	}
	var made struct{ Task struct{ TaskID string } }
	r := ask("tools/call", fmt.Sprintf(`"name":%q,"arguments":{"topic":"bees"},"task":{}`, researchTool))
	if err := json.Unmarshal(r.Result, &made); err != nil || made.Task.TaskID == "" {
		t.Fatalf("no task: %s", r.Result)
	}
	task := fmt.Sprintf(`"taskId":%q`, made.Task.TaskID)
	if state := ask("tasks/get", task); !strings.Contains(string(state.Result), `"working"`) {
		t.Errorf("before: %s", state.Result)
	}
	server.kill()
	c.base = h.serve().base
	a.base = c.base
	if result := ask("tasks/result", task); !strings.Contains(string(result.Result), "Research Report: bees") {
		t.Errorf("after: %s", result.Result)
	}
	if list := ask("tasks/list", ""); !strings.Contains(string(list.Result), task) {
		t.Errorf("list: %s", list.Result)
	}
	c.wantCalls("helper", map[string]int{"success": 1})
	if n := up.calls.Load(); n != 1 {
		t.Errorf("%d calls arrived, want 1", n)
	}
}
