//go:build e2e

package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// taskCapabilities are those of a client with tasks that answers questions (2026-07-28).
const taskCapabilities = `{"elicitation":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}`

// researchTask is a task of server-everything, as its client sees it.
type researchTask struct {
	agent
	TaskID, Status string
	InputRequests  map[string]struct{ Method string }
	last           string // the last answer
}

// beginResearch calls the tool as a client with tasks.
func (a agent) beginResearch(topic string) *researchTask {
	a.t.Helper()
	task := &researchTask{agent: a}
	task.read(a.declaring(taskCapabilities, "tools/call", fmt.Sprintf(`"name":%q,"arguments":{"topic":%q,"ambiguous":true}`, researchTool, topic)))
	if task.TaskID == "" {
		a.t.Fatalf("no task: %s", task.last)
	}
	return task
}

func (task *researchTask) read(r reply) {
	task.t.Helper()
	if r.Error != nil {
		task.t.Fatalf("%+v", r.Error)
	}
	task.InputRequests, task.last = nil, string(r.Result)
	if err := json.Unmarshal(r.Result, task); err != nil {
		task.t.Fatal(err)
	}
}

// pollUntil polls the task until it has this status.
func (task *researchTask) pollUntil(status string) {
	task.t.Helper()
	for deadline := time.Now().Add(patience); task.Status != status; <-time.After(200 * time.Millisecond) {
		if time.Now().After(deadline) {
			task.t.Fatalf("the task is not %s: %s", status, task.last)
		}
		task.read(task.declaring(taskCapabilities, "tasks/get", fmt.Sprintf(`"taskId":%q`, task.TaskID)))
	}
}

// answerQuestion answers the open question.
func (task *researchTask) answerQuestion() {
	task.t.Helper()
	if len(task.InputRequests) != 1 {
		task.t.Fatalf("questions: %s", task.last)
	}
	for key := range task.InputRequests {
		r := task.declaring(taskCapabilities, "tasks/update", fmt.Sprintf(
			`"taskId":%q,"inputResponses":{%q:{"action":"accept","content":{"interpretation":"technical"}}}`, task.TaskID, key))
		if r.Error != nil {
			task.t.Fatalf("%+v", r.Error)
		}
	}
}

// TestTask_OfEverythingInABrowser has a client run a long tool of server-everything, which is of 2025-11-25, while a person
// watches the tasks, opens the result of one and cancels another. A client of 2025-11-25 has its task, too.
func TestTask_OfEverythingInABrowser(t *testing.T) {
	t.Parallel()
	up := startEverything(t)
	_, s, tab, c := seeded(t)
	c.must(http.StatusCreated, http.MethodPost, "/api/v1/connectors", object{"name": "Everything", "url": up})
	c.must(http.StatusOK, http.MethodPost, "/connectors/everything/sync_tools", nil)
	night := c.hire("night", "everything")
	look := newLooker(t, tab)
	tab.Go(s.base + "/tasks")
	tab.WaitText("main", "No tasks yet")

	first := night.beginResearch("bees")
	tab.WaitText("#tasks", "Working")
	first.pollUntil("input_required")
	tab.WaitText("#tasks", "Needs input")
	tab.WaitText("#tasks", "Found multiple interpretations")
	look.at("task-asks")
	first.answerQuestion()
	first.pollUntil("completed")
	if !strings.Contains(first.last, "bees (technical)") {
		t.Errorf("the client gets %s", first.last)
	}
	tab.WaitText("#tasks", "Completed")

	second := night.beginResearch("wasps")
	second.pollUntil("input_required")
	tab.Click("#tasks form[action$='/cancel'] button")
	tab.WaitText("#notice", "Call cancelled.")
	tab.WaitText("#tasks", "Cancelled")
	second.pollUntil("cancelled")

	tab.Click("#tasks a[href$='#result']")
	tab.WaitText("main", "Research Report: bees (technical)")

	tab.Go(s.base + "/tasks")
	tab.WaitText("#tasks", "2 tasks")
	older := startPeer(t, nil, "tasks.mjs", s.base+"/mcp", night.token, researchTool, `{"topic":"ants"}`)
	tab.WaitText("#tasks", "3 tasks")
	tab.WaitText("#tasks tbody tr:first-child", "Working")
	if got := older.line(`"listed"`); !strings.Contains(got, "Research Report: ants") {
		t.Errorf("the client gets %s", got)
	}
	tab.WaitText("#tasks tbody tr:first-child", "Completed")
	tab.Click("#tasks tbody tr:first-child a[href$='#result']")
	tab.WaitText("main", "Research Report: ants")
}
