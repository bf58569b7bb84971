package admin

import (
	"context"
	"net/http"

	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/internal/store"
	"patchbay/web"
	"patchbay/web/templates"
)

// taskList lists the calls that run as tasks of their servers, newest first.
func (h *Handler) taskList(w http.ResponseWriter, r *http.Request) error {
	query := readCallQuery(r.URL.Query())
	var found callPage
	err := h.tenantStore(r).Snapshot(r.Context(), func(tx *store.Tenant) (err error) {
		found, err = h.findCalls(r, tx, query, h.calls.TasksIn)
		return err
	})
	if err != nil {
		return err
	}
	frame := found.frameWithEvents(h.newFrame(r, templates.NavTasks, newCrumb(i18n.T(r.Context(), "Tasks"), "")), query, "tasks")
	return h.respond.Page(w, r, http.StatusOK, templates.Tasks(templates.TasksPage{
		Frame:      frame,
		Filter:     query.toForm(),
		List:       h.taskListView(r.Context(), found.calls, query, frame.Can, newPager(r, found.calls.Next)),
		Agents:     found.agents,
		Connectors: found.connectors,
		Statuses:   taskStatusOptions(r.Context()),
	}))
}

func (q callQuery) toForm() templates.Form {
	return templates.Form{Values: map[string]string{"agent": q.agent, "connector": q.connector, "tool": q.tool, "status": string(q.status)}}
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

// taskStatusOptions are the statuses of a call with a task: it no longer waits for approval.
func taskStatusOptions(ctx context.Context) []templates.Option {
	options := []templates.Option{{Value: "", Label: i18n.T(ctx, "All states")}}
	for _, s := range []connectors.CallStatus{connectors.CallRunning, connectors.CallSuccess, connectors.CallError, connectors.CallCancelled} {
		options = append(options, templates.Option{Value: string(s), Label: taskState(ctx, s, "").Text})
	}
	return options
}

// taskListView is the part of the page that the event stream replaces.
func (h *Handler) taskListView(ctx context.Context, tasks store.List[connectors.ToolCall], q callQuery, can templates.Permissions, p templates.Pager) templates.TaskList {
	view := templates.TaskList{
		Asset: web.Asset, Count: formatCount(ctx, len(tasks.Items), p, "%s task", "%s tasks"), Filtered: q.isFiltered(), Pager: p,
	}
	for _, c := range tasks.Items {
		view.Rows = append(view.Rows, taskRow(ctx, c, can, h.now()))
	}
	return view
}
