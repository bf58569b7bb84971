package admin

import (
	"context"
	"encoding/json"
	"math"
	"strconv"

	"patchbay/internal/connectors"
	"patchbay/internal/words"
)

// callProgress says how far a call is that goes on, as its server said last: of the task that it made of the call, or of the call itself.
func callProgress(ctx context.Context, c connectors.ToolCall) string {
	if len(c.Task) > 0 {
		return taskProgress(ctx, c.Task)
	}
	return howFar(ctx, c.Progress)
}

// taskProgress says how far a task is.
func taskProgress(ctx context.Context, raw []byte) string {
	var task struct {
		Status  lenient[string] `json:"status"`
		Message lenient[string] `json:"statusMessage"`
	}
	if len(raw) == 0 || json.Unmarshal(raw, &task) != nil {
		return ""
	}
	said := words.T(ctx, map[string]words.Key{"working": "At work", "input_required": "Asks for input"}[task.Status.value])
	if said == "" {
		return shorten(words.T(ctx, "Task: %s", task.Status.value), maxNote)
	}
	return withWords(said, task.Message.value)
}

// howFar says what a server said of how far a call is.
func howFar(ctx context.Context, p *connectors.CallProgress) string {
	switch {
	case p == nil, p.Done == nil && p.Message == "":
		return ""
	case p.Done == nil:
		return withWords(words.T(ctx, "At work"), p.Message)
	case p.Total > 0:
		return withWords(words.T(ctx, "%s of %s", amount(ctx, *p.Done), amount(ctx, p.Total)), p.Message)
	default:
		return withWords(words.T(ctx, "At %s", amount(ctx, *p.Done)), p.Message)
	}
}

// withWords adds what a server said in words, as its words.
func withWords(ours, theirs string) string {
	if theirs == "" {
		return ours
	}
	return ours + ": “" + shorten(theirs, maxNote) + "”"
}

// amount is a server's number, as short as it may be: it counts what it likes.
func amount(ctx context.Context, n float64) string {
	if math.Abs(n) < 1e15 && n == math.Trunc(n) {
		return words.Number(ctx, int(n))
	}
	return strconv.FormatFloat(n, 'g', 4, 64)
}

// percentDone is for a bar; empty: the server did not say how much there is to do.
func percentDone(p *connectors.CallProgress) string {
	if p == nil || p.Done == nil || p.Total <= 0 {
		return ""
	}
	return strconv.FormatFloat(100*min(max(*p.Done/p.Total, 0), 1), 'f', 0, 64)
}
