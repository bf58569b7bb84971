package calls

import (
	"cmp"
	"context"
	"encoding/json"
	"math"
	"strconv"

	"patchbay/internal/admin/shell"
	"patchbay/internal/connectors"
	"patchbay/internal/i18n"
)

// callProgress says how far a running call is, as its server last reported: of its task, or else of the call.
func callProgress(ctx context.Context, c connectors.ToolCall) string {
	if len(c.Task) > 0 {
		return taskProgress(ctx, c.Task, c.Progress)
	}
	return ServerProgress(ctx, c.Progress)
}

// taskProgress words the state of a task, with the numbers of the last notification in place of "Working".
func taskProgress(ctx context.Context, raw []byte, noted *connectors.CallProgress) string {
	var task struct {
		Status  shell.Lenient[string] `json:"status"`
		Message shell.Lenient[string] `json:"statusMessage"`
	}
	if len(raw) == 0 || json.Unmarshal(raw, &task) != nil {
		return ""
	}
	text := i18n.T(ctx, map[string]i18n.Key{"working": "Working", "input_required": "Needs input"}[task.Status.Value])
	switch {
	case text == "":
		return shell.ShortenText(i18n.T(ctx, "Task: %s", task.Status.Value), shell.MaxNote)
	case task.Status.Value == "working" && noted != nil && noted.Done != nil:
		return ServerProgress(ctx, &connectors.CallProgress{Done: noted.Done, Total: noted.Total, Message: cmp.Or(task.Message.Value, noted.Message)})
	default:
		return withServerMessage(text, task.Message.Value)
	}
}

// ServerProgress words a progress notification.
func ServerProgress(ctx context.Context, p *connectors.CallProgress) string {
	switch {
	case p == nil, p.Done == nil && p.Message == "":
		return ""
	case p.Done == nil:
		return withServerMessage(i18n.T(ctx, "Working"), p.Message)
	case p.Total > 0:
		return withServerMessage(i18n.T(ctx, "%s of %s", formatNumber(ctx, *p.Done), formatNumber(ctx, p.Total)), p.Message)
	default:
		return withServerMessage(i18n.T(ctx, "At %s", formatNumber(ctx, *p.Done)), p.Message)
	}
}

// withServerMessage appends the server's message as a quotation.
func withServerMessage(text, message string) string {
	if message == "" {
		return text
	}
	return text + ": “" + shell.ShortenText(message, shell.MaxNote) + "”"
}

// formatNumber formats a server's progress value in its shortest form.
func formatNumber(ctx context.Context, n float64) string {
	if math.Abs(n) < 1e15 && n == math.Trunc(n) {
		return i18n.Number(ctx, int(n))
	}
	return strconv.FormatFloat(n, 'g', 4, 64)
}

// percentDone is the value of a progress bar; empty if the server did not send a total.
func percentDone(p *connectors.CallProgress) string {
	if p == nil || p.Done == nil || p.Total <= 0 {
		return ""
	}
	return strconv.FormatFloat(100*min(max(*p.Done/p.Total, 0), 1), 'f', 0, 64)
}

// callPercent is the value of a running call's progress bar: of its numbers, or else of its server's words.
func callPercent(c connectors.ToolCall) string {
	if percent := percentDone(c.Progress); percent != "" {
		return percent
	}
	if message := ReadTask(c.Task).Message.Value; message != "" || c.Progress == nil {
		return percentSaid(message)
	}
	return percentSaid(c.Progress.Message)
}
