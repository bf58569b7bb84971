package calls

import (
	"context"
	"encoding/json"
	"regexp"
	"strconv"
	"time"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
	"patchbay/web/templates"
)

// serverTask is a server's task, in the form of the extension io.modelcontextprotocol/tasks (MCP 2026-07-28). All of it
// is remote text.
type serverTask struct {
	Status  shell.Lenient[string]    `json:"status"`
	Message shell.Lenient[string]    `json:"statusMessage"`
	Updated shell.Lenient[time.Time] `json:"lastUpdatedAt"`
	Begun   shell.Lenient[time.Time] `json:"createdAt"`
	Life    shell.Lenient[float64]   `json:"ttlMs"`
}

// ReadTask reads a server's task; the zero value if raw is no task.
func ReadTask(raw []byte) (t serverTask) {
	_ = json.Unmarshal(raw, &t) // invalid JSON is an empty task
	return t
}

func taskRow(ctx context.Context, c connectors.ToolCall, call templates.CallRow, now time.Time) templates.TaskRow {
	task := ReadTask(c.Task)
	row := templates.TaskRow{Call: call, Said: shell.ShortenText(task.Message.Value, shell.MaxNote)}
	row.Call.State = taskState(ctx, c.Status, task.Status.Value)
	if updated := task.Updated.Value; !updated.IsZero() {
		row.Heard = new(shell.NewWhen(ctx, updated, now))
	}
	if c.Status.Ended() {
		row.Result = c.Status == connectors.CallSuccess || c.IsError
		return row
	}
	if c.Progress != nil && c.Progress.Done != nil {
		row.Said = taskProgress(ctx, c.Task, c.Progress)
	}
	if begun, life := task.Begun.Value, task.Life.Value; !begun.IsZero() && life > 0 && life < float64(maxTaskLife.Milliseconds()) {
		row.Kept = new(shell.NewWhen(ctx, begun.Add(time.Duration(life)*time.Millisecond), now))
	}
	return row
}

// toldProgress finds "40 of 100", "40/100" and "40 %" in a status message. A task has no number for its progress.
var toldProgress = regexp.MustCompile(`(?:^|[\s(\[])(\d{1,9})(?: ?/ ?(\d{1,9})| of (\d{1,9})| ?(%))(?:$|[\s.,;:)\]])`)

// percentSaid is the value of a progress bar by a status message; empty if it tells no progress with a total.
func percentSaid(message string) string {
	found := toldProgress.FindAllStringSubmatch(message, 2)
	if len(found) != 1 {
		return "" // none, or not clear which
	}
	total := 100.0
	if text := found[0][2] + found[0][3]; text != "" {
		total, _ = strconv.ParseFloat(text, 64) // digits
	}
	done, _ := strconv.ParseFloat(found[0][1], 64)
	if done > total {
		return ""
	}
	return percentDone(&connectors.CallProgress{Done: &done, Total: total})
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
	case s == connectors.CallPendingApproval:
		return templates.State{Kind: templates.StateWarn, Text: i18n.T(ctx, "Waiting for approval")}
	case serverStatus == "input_required":
		return templates.State{Kind: templates.StateWarn, Text: i18n.T(ctx, "Needs input")}
	default:
		return templates.State{Kind: templates.StateBusy, Text: i18n.T(ctx, "Working")}
	}
}
