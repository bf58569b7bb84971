//go:build e2e

package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"patchbay/internal/testing/browser"
)

// tasking is a server of the newest revision that makes a task of every call, written by hand. The task is as it was said last.
type tasking struct {
	url       string
	state     atomic.Value // string: members of the answer to tasks/get
	cancelled chan struct{}
}

func newTasking(t *testing.T) *tasking {
	t.Helper()
	u := &tasking{cancelled: make(chan struct{}, 1)}
	u.is(`"status":"working"`)
	u.url = serve(t, http.HandlerFunc(u.answer))
	return u
}

func (u *tasking) is(state string) { u.state.Store(state) }

func (u *tasking) answer(w http.ResponseWriter, r *http.Request) {
	var m struct {
		ID     json.RawMessage
		Method string
	}
	if err := json.NewDecoder(r.Body).Decode(&m); err != nil || m.ID == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	result := `"resultType":"complete"`
	switch m.Method {
	case "server/discover":
		result += `,"supportedVersions":["2026-07-28"],"serverInfo":{"name":"tasking","version":"1"},"capabilities":{"tools":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}`
	case "tools/list":
		result += `,"tools":[{"name":"report","description":"Makes a report.","inputSchema":{"type":"object"}}]`
	case "tools/call":
		result = `"resultType":"task","taskId":"t-1","status":"working","pollIntervalMs":100,"ttlMs":3600000`
	case "tasks/get":
		result += `,"taskId":"t-1","pollIntervalMs":100,` + u.state.Load().(string)
	case "tasks/cancel":
		u.is(`"status":"cancelled"`)
		select {
		case u.cancelled <- struct{}{}:
		default:
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{%s}}`, m.ID, result)
}

// withTasks is a request of a client that takes tasks.
func (a agent) withTasks(method, params string) reply {
	a.t.Helper()
	return a.declaring(`{"extensions":{"io.modelcontextprotocol/tasks":{}}}`, method, params)
}

// declaring is a request of a client with these capabilities.
func (a agent) declaring(capabilities, method, params string) reply {
	a.t.Helper()
	message, header := modern(method, params)
	message = strings.Replace(message, `clientCapabilities":{}`, `clientCapabilities":`+capabilities, 1)
	if method != "tools/call" {
		var p struct{ TaskID string }
		_ = json.Unmarshal([]byte("{"+params+"}"), &p)
		header = append(header, "Mcp-Name", p.TaskID)
	}
	_, _, r := a.send("/mcp", message, header...)
	return r
}

// TestTask_IsFollowedAndCancelledInABrowser has an agent with support for tasks call a slow tool.
func TestTask_IsFollowedAndCancelledInABrowser(t *testing.T) {
	t.Parallel()
	up := newTasking(t)
	_, s, tab, c := seeded(t)
	c.must(http.StatusCreated, http.MethodPost, "/api/v1/connectors", object{"name": "Reports", "url": up.url})
	c.must(http.StatusOK, http.MethodPost, "/connectors/reports/sync_tools", nil)
	night := c.hire("night", "reports")
	look := newLooker(t, tab)
	tab.Go(s.base + "/tasks")
	tab.WaitText("main", "No tasks yet")

	begin := func() string {
		r := night.withTasks("tools/call", `"name":"mcp_reports__report","arguments":{}`)
		var task struct{ TaskID string }
		if err := json.Unmarshal(r.Result, &task); err != nil || task.TaskID == "" {
			t.Fatalf("no task: %+v %s", r.Error, r.Result)
		}
		return task.TaskID
	}
	ask := func(id string) string {
		r := night.withTasks("tasks/get", fmt.Sprintf(`"taskId":%q`, id))
		return string(r.Result)
	}
	first := begin()
	up.is(`"status":"working","statusMessage":"Page 40 of 100"`)
	ask(first)
	tab.WaitText("#tasks", "Page 40 of 100")
	if bar := browser.Eval[float64](tab, `document.querySelector("#tasks progress").value`); bar != 40 {
		t.Errorf("the bar is at %v", bar)
	}
	look.at("task-running")
	tab.Go(s.base + "/calls")
	tab.WaitText("#calls tbody", "Working: “Page 40 of 100”")
	tab.Go(s.base + browser.Eval[string](tab, `document.querySelector("#calls tbody a.cover").getAttribute("href")`))
	tab.WaitText("[id^=call-detail]", "Working: “Page 40 of 100”")
	up.is(`"status":"working","statusMessage":"Page 60 of 100"`)
	ask(first)
	tab.WaitText("[id^=call-detail]", "Page 60 of 100")
	if bar := browser.Eval[float64](tab, `document.querySelector("[id^=call-detail] progress").value`); bar != 60 {
		t.Errorf("the call's bar is at %v", bar)
	}
	tab.Go(s.base + "/tasks")
	tab.WaitText("#tasks", "Page 60 of 100")
	up.is(`"status":"completed","result":{"content":[{"type":"text","text":"41 rows"}]}`)
	if got := ask(first); !strings.Contains(got, "41 rows") {
		t.Errorf("the agent is answered %s", got)
	}
	tab.WaitText("#tasks", "Completed")

	up.is(`"status":"working","statusMessage":"Page 1 of 100"`)
	second := begin()
	tab.WaitText("#tasks", "Working")
	tab.Click("#tasks form[action$='/cancel'] button")
	tab.WaitText("#notice", "Call cancelled.")
	tab.WaitText("#tasks", "Cancelled")
	look.at("task-cancelled")
	<-up.cancelled
	if got := ask(second); !strings.Contains(got, "cancelled") {
		t.Errorf("the agent is answered %s", got)
	}
}
