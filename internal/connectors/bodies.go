package connectors

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// BodyReaders are the readers of calls' arguments and results.
type BodyReaders string

// The readers.
const (
	ReadersEveryone BodyReaders = "everyone" // every reader of the call
	ReadersAuditors BodyReaders = "auditors" // auditors alone; each read is logged
)

// WithholdsBodies reports whether arguments and results are for auditors alone.
func (t Tenant) WithholdsBodies() bool { return t.BodyReaders == ReadersAuditors }

// HasBodies reports whether arguments, results or task state are stored.
func (c ToolCall) HasBodies() bool {
	return c.Kind == CallResource || c.ErrorCode == codeBadArguments || len(c.Arguments)+len(c.Content)+len(c.Structured)+len(c.Task) > 0 || c.Upstream != nil && c.Upstream.Said != "" || c.Progress != nil && c.Progress.Message != ""
}

// WithoutBodies returns the call without arguments, results and the server's texts: only agent, tool, times and
// outcome.
func (c ToolCall) WithoutBodies() ToolCall {
	c.Arguments, c.Content, c.Structured, c.Withheld = nil, nil, nil, true
	c.Task, c.Upstream = redactTask(c.Task), c.Upstream.WithoutSaid()
	if c.Kind == CallResource { // a read resource may contain an argument in its URI
		c.Tool, c.ExposedName = truncateURI(c.Tool), truncateURI(c.ExposedName)
	}
	if c.ErrorCode == codeBadArguments { // the message names arguments
		c.ErrorMessage = ""
	}
	if c.Progress != nil {
		c.Progress = &CallProgress{Done: c.Progress.Done, Total: c.Progress.Total}
	}
	return c
}

// codeBadArguments is the ErrorCode of arguments that violate the tool's input schema.
const codeBadArguments = "invalid_arguments"

// truncateURI returns a URI's scheme and host. The rest may contain anything.
func truncateURI(uri string) string {
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

// publicTask is a task's state without the server's texts.
type publicTask struct {
	Status  string     `json:"status,omitempty"`
	Begun   *time.Time `json:"createdAt,omitempty"`
	Updated *time.Time `json:"lastUpdatedAt,omitempty"`
	Life    *float64   `json:"ttlMs,omitempty"`
}

// taskStatuses are those of the tasks extension; others may be server texts.
var taskStatuses = []string{"working", "input_required", "completed", "failed", "cancelled"}

func redactTask(raw []byte) []byte {
	var said map[string]json.RawMessage
	if len(raw) == 0 || json.Unmarshal(raw, &said) != nil {
		return nil
	}
	plain := publicTask{Begun: decodeAs[time.Time](said["createdAt"]), Updated: decodeAs[time.Time](said["lastUpdatedAt"]), Life: decodeAs[float64](said["ttlMs"])}
	if status := decodeAs[string](said["status"]); status != nil && slices.Contains(taskStatuses, *status) {
		plain.Status = *status
	}
	kept, err := json.Marshal(plain)
	if err != nil {
		return nil
	}
	return kept
}

// decodeAs decodes a field; nil: it is no T.
func decodeAs[T any](raw json.RawMessage) *T {
	var value *T
	if json.Unmarshal(raw, &value) != nil {
		return nil
	}
	return value
}
