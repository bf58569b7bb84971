package store_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
)

// taskAttempts are the outsider's at tasks; TestTasksAreCallsWithAHandle shows that there are some.
var taskAttempts = map[string]attempt{
	"Calls.TaskCalls": func(ctx context.Context, o outsider) (bool, error) {
		return some(o.door.Calls().TaskCalls(ctx, store.CallFilter{}))
	},
	"Calls.AgentTasks": func(ctx context.Context, o outsider) (bool, error) {
		return some(o.door.Calls().AgentTasks(ctx, o.agent.ID, time.Time{}, store.Page{}))
	},
}

// runningIn puts a call on record that goes on; with a handle it does so as a task.
func runningIn(t *testing.T, w *fixture.World, tenant connectors.TenantID, c connectors.ToolCall, handle string) connectors.ToolCallID {
	t.Helper()
	c.ID, c.Status, c.InstanceID = connectors.ToolCallID{UUID: uuid.Must(uuid.NewV7())}, connectors.CallRunning, &w.Instance
	if err := w.St.System().Calls().BeginCalls(t.Context(), []store.OwnedCall{{Tenant: tenant, ToolCall: c}}); err != nil {
		t.Fatal(err)
	}
	if handle != "" {
		if err := w.St.Tenant(tenant).Calls().SaveCallTask(t.Context(), c.ID, store.CallTask{State: []byte(`{"status":"working"}`), Handle: handle}); err != nil {
			t.Fatal(err)
		}
	}
	return c.ID
}

func TestTasksAreCallsWithAHandle(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c, a, other := w.Connector(t), w.Agent(t), w.Agent(t)
	theirs := w.ConnectorIn(t, w.Other)
	runningIn(t, w, w.Other, newCall(w.AgentIn(t, w.Other), theirs, connectors.ToolCallID{}), "theirs")
	runningIn(t, w, w.Tenant, newCall(a, c, connectors.ToolCallID{}), "")
	first := runningIn(t, w, w.Tenant, newCall(a, c, connectors.ToolCallID{}), "first")
	second := runningIn(t, w, w.Tenant, newCall(other, c, connectors.ToolCallID{}), "second")
	ended, err := w.Door().Calls().EndCallTask(t.Context(), connectors.ToolCall{ID: second, Status: connectors.CallSuccess, Outcome: connectors.OutcomeOK, Task: []byte(`{"status":"completed"}`)})
	wantTrue(t, "end", ended, err)
	for name, x := range map[string]struct {
		filter store.CallFilter
		want   []connectors.ToolCallID
	}{
		"all, the newest first": {store.CallFilter{}, []connectors.ToolCallID{second, first}},
		"of an agent":           {store.CallFilter{Agent: &a.ID}, []connectors.ToolCallID{first}},
		"of a connector":        {store.CallFilter{Connector: &theirs.ID}, nil},
		"in a state":            {store.CallFilter{Status: connectors.CallSuccess}, []connectors.ToolCallID{second}},
		"of a tool":             {store.CallFilter{Tool: "mcp_x__search"}, []connectors.ToolCallID{second, first}},
		"of no tool":            {store.CallFilter{Tool: "nothing"}, nil},
	} {
		list, err := w.Door().Calls().TaskCalls(t.Context(), x.filter)
		if err != nil {
			t.Fatal(err)
		}
		var got []connectors.ToolCallID
		for _, call := range list.Items {
			got = append(got, call.ID)
		}
		if diff := cmp.Diff(x.want, got); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
	page, err := w.Door().Calls().TaskCalls(t.Context(), store.CallFilter{Page: store.Page{Limit: 1}})
	if err != nil || page.Items[0].ID != second {
		t.Fatalf("%+v, %v", page, err)
	}
	rest, err := w.Door().Calls().TaskCalls(t.Context(), store.CallFilter{Page: store.Page{Limit: 1, Cursor: page.Next}})
	if err != nil || len(rest.Items) != 1 || rest.Items[0].ID != first || rest.Next != "" {
		t.Errorf("%+v, %v", rest, err)
	}
}

// A page of calls is hundreds of them, and the server of each says as much of its task as the history keeps of a result.
func TestNoListOfCallsBringsLongTasksAlong(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	call := newCall(w.Agent(t), w.Connector(t), connectors.ToolCallID{})
	id := runningIn(t, w, w.Tenant, call, "long")
	long := []byte(`{"status":"working","statusMessage":"` + strings.Repeat("x", 1<<18) + `"}`)
	if err := w.Door().Calls().SaveCallTask(t.Context(), id, store.CallTask{State: long}); err != nil {
		t.Fatal(err)
	}
	for name, list := range map[string]func(context.Context, store.CallFilter) (store.List[connectors.ToolCall], error){
		"calls": w.Door().Calls().List, "tasks": w.Door().Calls().TaskCalls,
	} {
		calls, err := list(t.Context(), store.CallFilter{})
		if err != nil || len(calls.Items) != 1 || len(calls.Items[0].Task) > 16<<10 {
			t.Errorf("%s: %d, %v, with %d bytes of a task", name, len(calls.Items), err, len(calls.Items[0].Task))
		}
	}
	if one, err := w.Door().Calls().Get(t.Context(), id); err != nil || string(one.Task) != string(long) {
		t.Errorf("the call has %d bytes of it, %v", len(one.Task), err)
	}
}

func TestAgentTasksAreThoseWithAHandleOfTheAgent(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	c, a, other := w.Connector(t), w.Agent(t), w.Agent(t)
	first := runningIn(t, w, w.Tenant, newCall(a, c, connectors.ToolCallID{}), "first")
	runningIn(t, w, w.Tenant, newCall(other, c, connectors.ToolCallID{}), "another agent's")
	runningIn(t, w, w.Tenant, newCall(a, c, connectors.ToolCallID{}), "")
	waited := runningIn(t, w, w.Tenant, newCall(a, c, connectors.ToolCallID{}), "")
	if err := w.Door().Calls().SaveCallTask(t.Context(), waited, store.CallTask{State: []byte(`{"status":"working"}`), Attached: true}); err != nil {
		t.Fatal(err)
	}
	if call, err := w.Door().Calls().Get(t.Context(), waited); err != nil || call.InstanceID == nil || call.TaskHandle != "" {
		t.Errorf("a task that a process waits for: %+v, %v", call, err)
	}
	if all, err := w.Door().Calls().TaskCalls(t.Context(), store.CallFilter{Agent: &a.ID}); err != nil || len(all.Items) != 2 || all.Items[0].ID != waited {
		t.Errorf("the tasks of people: %+v, %v", all, err)
	}
	second := runningIn(t, w, w.Tenant, newCall(a, c, connectors.ToolCallID{}), "second")
	page, err := w.Door().Calls().AgentTasks(t.Context(), a.ID, time.Time{}, store.Page{Limit: 1})
	if err != nil || len(page.Items) != 1 || page.Items[0].ID != second || page.Items[0].TaskHandle != "second" {
		t.Fatalf("%+v, %v", page, err)
	}
	rest, err := w.Door().Calls().AgentTasks(t.Context(), a.ID, time.Time{}, store.Page{Limit: 1, Cursor: page.Next})
	if err != nil || len(rest.Items) != 1 || rest.Items[0].ID != first || rest.Next != "" {
		t.Errorf("%+v, %v", rest, err)
	}
	if late, err := w.Door().Calls().AgentTasks(t.Context(), a.ID, time.Now().Add(time.Hour), store.Page{}); err != nil || len(late.Items) != 0 {
		t.Errorf("after all: %+v, %v", late, err)
	}
}

// The beginning of a call may be stored before its account is known.
func TestSaveCallTask_KeepsAccount(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	id := runningIn(t, w, w.Tenant, newCall(w.Agent(t), w.Connector(t), connectors.ToolCallID{}), "")
	account := connectors.CredentialID{UUID: uuid.Must(uuid.NewV7())}
	for _, task := range []store.CallTask{{Handle: "handle", Account: &account}, {State: []byte("{}")}} {
		if err := w.Door().Calls().SaveCallTask(t.Context(), id, task); err != nil {
			t.Fatal(err)
		}
		if row, err := w.Door().Calls().Get(t.Context(), id); err != nil || row.CredentialID == nil || *row.CredentialID != account {
			t.Errorf("after %+v: account %v, %v", task, row.CredentialID, err)
		}
	}
}
