package admin

import (
	"encoding/json"
	"math"
	"strconv"

	"patchbay/internal/connectors"
)

// callProgress says how far a call is that goes on, as its server said last: of the task that it made of the call, or of the call itself.
func callProgress(c connectors.ToolCall) string {
	if len(c.Task) > 0 {
		return taskProgress(c.Task)
	}
	return howFar(c.Progress)
}

// taskProgress says how far a task is.
func taskProgress(raw []byte) string {
	var task struct {
		Status  lenient[string] `json:"status"`
		Message lenient[string] `json:"statusMessage"`
	}
	if len(raw) == 0 || json.Unmarshal(raw, &task) != nil {
		return ""
	}
	words := map[string]string{"working": "At work", "input_required": "Asks for input"}[task.Status.value]
	if words == "" {
		return shorten("Task: "+task.Status.value, maxNote)
	}
	return withWords(words, task.Message.value)
}

// howFar says what a server said of how far a call is.
func howFar(p *connectors.CallProgress) string {
	switch {
	case p == nil, p.Done == nil && p.Message == "":
		return ""
	case p.Done == nil:
		return withWords("At work", p.Message)
	case p.Total > 0:
		return withWords(amount(*p.Done)+" of "+amount(p.Total), p.Message)
	default:
		return withWords("At "+amount(*p.Done), p.Message)
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
func amount(n float64) string {
	if math.Abs(n) < 1e15 && n == math.Trunc(n) {
		return number(int(n))
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
