package connectors

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// BodyReaders are those who read what is kept of calls' arguments and results.
type BodyReaders string

// The readers.
const (
	ReadersEveryone BodyReaders = "everyone" // whoever sees the call
	ReadersAuditors BodyReaders = "auditors" // auditors alone, and each reading is put on record
)

// WithholdsBodies tells whether arguments and results are for auditors alone.
func (t Tenant) WithholdsBodies() bool { return t.BodyReaders == ReadersAuditors }

// HasBodies tells whether anything is there of what was sent and answered.
func (c ToolCall) HasBodies() bool {
	return c.Kind == CallResource || c.ErrorCode == codeBadArguments || len(c.Arguments)+len(c.Content)+len(c.Structured)+len(c.Task) > 0 || c.Progress != nil && c.Progress.Message != ""
}

// WithoutBodies is the call as those see it for whom arguments and results are not: who called what, when, and how it ended, without
// anything that was sent or answered, nor what its server said in words of how far it is.
func (c ToolCall) WithoutBodies() ToolCall {
	c.Arguments, c.Content, c.Structured, c.Withheld = nil, nil, nil, true
	c.Task = taskWithoutWords(c.Task)
	if c.Kind == CallResource { // where a resource is named by a template, what is read stands in its URI
		c.Tool, c.ExposedName = uriRoot(c.Tool), uriRoot(c.ExposedName)
	}
	if c.ErrorCode == codeBadArguments { // the sentence names what was sent
		c.ErrorMessage = ""
	}
	if c.Progress != nil {
		c.Progress = &CallProgress{Done: c.Progress.Done, Total: c.Progress.Total}
	}
	return c
}

// codeBadArguments is the ErrorCode of a call whose arguments do not fit the tool's input schema.
const codeBadArguments = "invalid_arguments"

// uriRoot is how a URI begins: its scheme, and the host where it has one. What comes after it may be anybody's.
func uriRoot(uri string) string {
	scheme, rest, ok := strings.Cut(uri, "://")
	if !ok {
		if scheme, _, ok = strings.Cut(uri, ":"); !ok {
			return "…"
		}
		return scheme + ":…"
	}
	host, _, more := strings.Cut(rest, "/")
	host, _, query := strings.Cut(host, "?")
	if host = host[strings.LastIndexByte(host, '@')+1:]; more || query {
		host += "/…"
	}
	return scheme + "://" + host
}

// plainTask is what of a task's state is no text of its server's: how far it is, and times.
type plainTask struct {
	Status  string     `json:"status,omitempty"`
	Begun   *time.Time `json:"createdAt,omitempty"`
	Updated *time.Time `json:"lastUpdatedAt,omitempty"`
	Life    *float64   `json:"ttlMs,omitempty"`
}

// taskStatuses are those of the task extension; others are a server's own words.
var taskStatuses = []string{"working", "input_required", "completed", "failed", "cancelled"}

func taskWithoutWords(raw []byte) []byte {
	var said map[string]json.RawMessage
	if len(raw) == 0 || json.Unmarshal(raw, &said) != nil {
		return nil
	}
	plain := plainTask{Begun: saidAs[time.Time](said["createdAt"]), Updated: saidAs[time.Time](said["lastUpdatedAt"]), Life: saidAs[float64](said["ttlMs"])}
	if status := saidAs[string](said["status"]); status != nil && slices.Contains(taskStatuses, *status) {
		plain.Status = *status
	}
	kept, err := json.Marshal(plain)
	if err != nil {
		return nil
	}
	return kept
}

// saidAs is a field of a server's, which it may have filled with anything; nil: not with a T.
func saidAs[T any](raw json.RawMessage) *T {
	var value *T
	if json.Unmarshal(raw, &value) != nil {
		return nil
	}
	return value
}
