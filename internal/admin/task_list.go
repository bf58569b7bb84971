package admin

import (
	"net/http"

	"patchbay/internal/connectors"
	"patchbay/internal/store"
	"patchbay/web"
	"patchbay/web/templates"
)

// taskList lists the calls that their servers run as tasks, the newest first.
func (h *Handler) taskList(w http.ResponseWriter, r *http.Request) error {
	query := readCallQuery(r.URL.Query())
	found, err := h.findCalls(r, query, h.tenant(r).TaskCalls)
	if err != nil {
		return err
	}
	frame := found.frame(h.frame(r, templates.NavTasks, crumb("Tasks", "")), query, "tasks")
	return h.respond.Page(w, r, http.StatusOK, templates.Tasks(templates.TasksPage{
		Frame:      frame,
		Filter:     query.form(),
		List:       h.taskListView(found.calls, query, frame.Can, pager(r, found.calls.Next)),
		Agents:     found.agents,
		Connectors: found.connectors,
		Statuses:   taskStatusOptions(),
	}))
}

// form is the query as its fields have it.
func (q callQuery) form() templates.Form {
	return templates.Form{Values: map[string]string{"agent": q.agent, "connector": q.connector, "tool": q.tool, "status": string(q.status)}}
}

func agentOptions(agents []connectors.Agent) []templates.Option {
	options := []templates.Option{{Value: "", Label: "All agents"}}
	for _, a := range agents {
		options = append(options, templates.Option{Value: a.Slug, Label: a.Name})
	}
	return options
}

func connectorOptions(all []connectors.Connector) []templates.Option {
	options := []templates.Option{{Value: "", Label: "All connectors"}}
	for _, c := range all {
		options = append(options, templates.Option{Value: c.Slug, Label: c.Name})
	}
	return options
}

// taskStatusOptions are the states that a call with a task may have: none waits for a person any more.
func taskStatusOptions() []templates.Option {
	options := []templates.Option{{Value: "", Label: "All states"}}
	for _, s := range []connectors.CallStatus{connectors.CallRunning, connectors.CallSuccess, connectors.CallError, connectors.CallCancelled} {
		options = append(options, templates.Option{Value: string(s), Label: taskState(s, "").Text})
	}
	return options
}

// taskListView is the part of the page that is renewed as tasks come, go on and end.
func (h *Handler) taskListView(tasks store.List[connectors.ToolCall], q callQuery, can templates.Can, p templates.Pager) templates.TaskList {
	view := templates.TaskList{
		Asset: web.Asset, Count: countOf(len(tasks.Items), p, "task"), Filtered: q.filtered(), Pager: p,
	}
	for _, c := range tasks.Items {
		view.Rows = append(view.Rows, taskRow(c, can, h.now()))
	}
	return view
}
