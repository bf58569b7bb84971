package admin

import (
	"context"
	"encoding/json"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/web/templates"
)

// serverTask is a server's task (MCP 2026-07-28, extension io.modelcontextprotocol/tasks). All of it is remote
// text.
type serverTask struct {
	Status  lenient[string]    `json:"status"`
	Message lenient[string]    `json:"statusMessage"`
	Updated lenient[time.Time] `json:"lastUpdatedAt"`
	Begun   lenient[time.Time] `json:"createdAt"`
	Life    lenient[float64]   `json:"ttlMs"`
}

func readTask(raw []byte) (t serverTask) {
	_ = json.Unmarshal(raw, &t) // invalid JSON is an empty task
	return t
}

func taskRow(ctx context.Context, c connectors.ToolCall, can templates.Permissions, now time.Time) templates.TaskRow {
	task := readTask(c.Task)
	row := templates.TaskRow{Call: callRow(ctx, c, can, now), Said: shortenText(task.Message.value, maxNote)}
	row.Call.State = taskState(ctx, c.Status, task.Status.value)
	if updated := task.Updated.value; !updated.IsZero() {
		row.Heard = new(newWhen(ctx, updated, now))
	}
	if c.Status.Ended() {
		row.Result = c.Status == connectors.CallSuccess || c.IsError
		return row
	}
	if begun, life := task.Begun.value, task.Life.value; !begun.IsZero() && life > 0 && life < float64(maxTaskLife.Milliseconds()) {
		row.Kept = new(newWhen(ctx, begun.Add(time.Duration(life)*time.Millisecond), now))
	}
	return row
}

// maxTaskLife is the lifetime from which a server's ttl is ignored.
const maxTaskLife = 10 * 365 * 24 * time.Hour

// taskState is the call's outcome, or the server's status of a running task.
func taskState(ctx context.Context, s connectors.CallStatus, serverStatus string) templates.State {
	switch {
	case s == connectors.CallSuccess:
		return templates.State{Kind: templates.StateOK, Text: i18n.T(ctx, "Completed")}
	case s == connectors.CallError || s == connectors.CallDenied:
		return templates.State{Kind: templates.StateBad, Text: i18n.T(ctx, "Failed")}
	case s.Ended():
		return templates.State{Kind: templates.StateOff, Text: i18n.T(ctx, "Cancelled")}
	case serverStatus == "input_required":
		return templates.State{Kind: templates.StateWarn, Text: i18n.T(ctx, "Asks for input")}
	default:
		return templates.State{Kind: templates.StateBusy, Text: i18n.T(ctx, "At work")}
	}
}
