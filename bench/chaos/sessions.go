package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"patchbay/bench/churn"
)

const sessionDoor = "gateway, with a session (2025-11-25)"

// callsPerSession is the number of calls before a session is deleted.
const callsPerSession = 12

// sessionLoop begins sessions (2025-11-25), calls in them at alternating processes, and deletes them. Sessions
// survive their process.
func (w *world) sessionLoop(t *tenant, connector string) func(context.Context) {
	id, calls := "", 0
	return func(ctx context.Context) {
		switch {
		case id == "":
			id, calls = w.beginSession(ctx, t), 0
		case calls < callsPerSession:
			calls++
			n := w.nextCall()
			status, text, _, err := w.sendInSession(ctx, t, http.MethodPost, id, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":{"n":%d,"sse":%t}}}`,
				n, "mcp_"+connector+"__work", n, n%2 == 0))
			if w.isForgotten(t, status, text, err) {
				id = ""
			}
			w.recordCall(t, sessionDoor, n, status, text, err)
		default:
			status, text, _, err := w.sendInSession(ctx, t, http.MethodDelete, id, "")
			w.isForgotten(t, status, text, err)
			w.addResponse(t, sessionDoor, status, text, err)
			id = ""
		}
	}
}

// beginSession returns a new session's id; empty: none.
func (w *world) beginSession(ctx context.Context, t *tenant) string {
	status, text, id, err := w.sendInSession(ctx, t, http.MethodPost, "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"chaos","version":"1"}}}`)
	w.addResponse(t, sessionDoor, status, text, err)
	if err != nil || status != http.StatusOK {
		return ""
	}
	if id == "" || !strings.Contains(string(text), `"protocolVersion":"2025-11-25"`) {
		w.tally.recordProblem("unclear", fmt.Sprintf("%s: initialize: %.300s", sessionDoor, text))
		return ""
	}
	w.calls.mu.Lock()
	w.calls.sessions++
	w.calls.mu.Unlock()
	status, text, _, err = w.sendInSession(ctx, t, http.MethodPost, id, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	w.isForgotten(t, status, text, err)
	w.addResponse(t, sessionDoor, status, text, err)
	return id
}

// isForgotten reports, and records, that a process does not know an existing session.
func (w *world) isForgotten(t *tenant, status int, text []byte, err error) bool {
	if err != nil || status != http.StatusNotFound {
		return false
	}
	w.tally.recordProblem("session", fmt.Sprintf("of %s: %.300s", t.slug, text))
	return true
}

// sendInSession sends a message on a connection of its own, because net/http would retry some. Without a
// session it returns the new id.
func (w *world) sendInSession(ctx context.Context, t *tenant, method, session, message string) (status int, text []byte, id string, err error) {
	r, err := http.NewRequestWithContext(ctx, method, w.nextReplica()+"/mcp", strings.NewReader(message))
	if err != nil {
		return 0, nil, "", err
	}
	r.Close = true
	r.Header = http.Header{"Authorization": {"Bearer " + t.robot}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	if session != "" {
		r.Header.Set("Mcp-Session-Id", session)
		r.Header.Set("Mcp-Protocol-Version", "2025-11-25")
	}
	a, err := w.client.Do(r) //nolint:bodyclose // ReadAnswer closes it
	if err != nil {
		return 0, nil, "", err
	}
	if status, text, err = churn.ReadAnswer(a, nil); err == nil && strings.HasPrefix(a.Header.Get("Content-Type"), "text/event-stream") {
		text = lastData(text)
	}
	return status, text, a.Header.Get("Mcp-Session-Id"), err
}
