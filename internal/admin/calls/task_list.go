package calls

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"time"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/export"
	"patchbay/internal/i18n"
	"patchbay/internal/store"
	"patchbay/web"
	"patchbay/web/templates"
)

// taskColumns are those of calls, and the server's task state.
var taskColumns = append(slices.Clone(callColumns),
	export.Column[connectors.ToolCall]{Name: "task_status", Of: func(c connectors.ToolCall) any { return ReadTask(c.Task).Status.Value }},
	export.Column[connectors.ToolCall]{Name: "task_message", Of: func(c connectors.ToolCall) any { return ReadTask(c.Task).Message.Value }},
)

func (h *Handler) taskFile(w http.ResponseWriter, r *http.Request) error {
	return h.callsFile(w, r, "tasks", taskColumns, h.Calls.TasksIn)
}

// taskList lists the calls that run as tasks of their servers, newest first.
func (h *Handler) taskList(w http.ResponseWriter, r *http.Request) error {
	query := ReadCallQuery(r.URL.Query())
	var found callPage
	var pager templates.Pager
	err := h.TenantStore(r).Snapshot(r.Context(), func(tx *store.Tenant) (err error) {
		if found, err = h.findCalls(r, tx, query, h.Calls.TasksIn); err != nil {
			return err
		}
		pager, err = h.AddTaskTotal(r.Context(), tx, query, shell.NewPager(r, found.calls.Next, len(found.calls.Items)))
		return err
	})
	if err != nil {
		return err
	}
	frame := found.frameWithEvents(h.NewFrame(r, templates.NavTasks, shell.NewCrumb(i18n.T(r.Context(), "Tasks"), "")), query, "tasks")
	return h.Respond.Page(w, r, http.StatusOK, templates.Tasks(templates.TasksPage{
		Frame:      frame,
		Filter:     query.ToForm(),
		List:       h.TaskListView(r.Context(), found.calls, query, frame.Can, pager),
		Agents:     found.agents,
		Connectors: found.connectors,
		Statuses:   taskStatusOptions(r.Context()),
	}))
}

// AddTaskTotal adds the number of the query's tasks to the pager of their list.
func (h *Handler) AddTaskTotal(ctx context.Context, tx *store.Tenant, q CallQuery, p templates.Pager) (templates.Pager, error) {
	filter, err := h.CallFilter(ctx, tx, q, nil, nil)
	if err != nil || filter.Limit < 0 {
		return p, err
	}
	filter.From, filter.To = time.Time{}, time.Time{} // tasks have no range
	total, err := tx.Lists().TaskCalls(ctx, filter)
	return shell.WithBoundedTotal(p, total), err
}

// ToForm returns the query as the filter's form has it.
func (q CallQuery) ToForm() templates.Form {
	return templates.Form{Values: map[string]string{"agent": q.agent, "connector": q.connector, "tool": q.tool, "status": string(q.status), "range": cmp.Or(q.rangeKey, defaultRange), "from": q.from, "to": q.to}}
}

func agentOptions(ctx context.Context, agents []connectors.Agent) []templates.Option {
	options := []templates.Option{{Value: "", Label: i18n.T(ctx, "All agents")}}
	for _, a := range agents {
		options = append(options, templates.Option{Value: a.Slug, Label: a.Name})
	}
	return options
}

func connectorOptions(ctx context.Context, all []connectors.Connector) []templates.Option {
	options := []templates.Option{{Value: "", Label: i18n.T(ctx, "All connectors")}}
	for _, c := range all {
		options = append(options, templates.Option{Value: c.Slug, Label: c.Name})
	}
	return options
}

// taskStatusOptions are the statuses of a call with a task.
func taskStatusOptions(ctx context.Context) []templates.Option {
	options := []templates.Option{{Value: "", Label: i18n.T(ctx, "All states")}}
	for _, s := range []connectors.CallStatus{connectors.CallPendingApproval, connectors.CallRunning, connectors.CallSuccess, connectors.CallError, connectors.CallCancelled} {
		options = append(options, templates.Option{Value: string(s), Label: taskState(ctx, s, "").Text})
	}
	return options
}

// TaskListView is the part of the page that the event stream replaces.
func (h *Handler) TaskListView(ctx context.Context, tasks MarkedCalls, q CallQuery, can templates.Permissions, p templates.Pager) templates.TaskList {
	view := templates.TaskList{
		Asset: web.Asset, Count: shell.FormatCount(ctx, len(tasks.Items), p, "%s task", "%s tasks"), Filtered: q.IsFiltered(), Pager: p,
	}
	for _, c := range tasks.Items {
		view.Rows = append(view.Rows, taskRow(ctx, c, tasks.Row(ctx, c, can, h.Now()), h.Now()))
	}
	return view
}
