package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"patchbay/bench/churn"
)

const sessionDoor = "gateway, with a session (2025-11-25)"

// callsOfSession is how many calls an agent makes in a session before it ends it.
const callsOfSession = 12

// inSession has an agent of the handshake era begin a session, call in it at whichever process is next, and end it. A session is not of a process:
// it goes on when the one dies that began it.
func (w *world) inSession(t *tenant, connector string) func(context.Context) {
	id, made := "", 0
	return func(ctx context.Context) {
		switch {
		case id == "":
			id, made = w.beginsSession(ctx, t), 0
		case made < callsOfSession:
			made++
			n := w.nextCall()
			status, text, _, err := w.speaks(ctx, t, http.MethodPost, id, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":{"n":%d,"sse":%t}}}`,
				n, "mcp_"+connector+"__work", n, n%2 == 0))
			if w.forgets(t, status, text, err) {
				id = ""
			}
			w.settleCall(t, sessionDoor, n, status, text, err)
		default:
			status, text, _, err := w.speaks(ctx, t, http.MethodDelete, id, "")
			w.forgets(t, status, text, err)
			w.met(t, sessionDoor, status, text, err)
			id = ""
		}
	}
}

// beginsSession is the id of a new session; empty: there is none.
func (w *world) beginsSession(ctx context.Context, t *tenant) string {
	status, text, id, err := w.speaks(ctx, t, http.MethodPost, "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"chaos","version":"1"}}}`)
	w.met(t, sessionDoor, status, text, err)
	if err != nil || status != http.StatusOK {
		return ""
	}
	if id == "" || !strings.Contains(string(text), `"protocolVersion":"2025-11-25"`) {
		w.tally.note("unclear", fmt.Sprintf("%s: initialize: %.300s", sessionDoor, text))
		return ""
	}
	w.calls.mu.Lock()
	w.calls.sessions++
	w.calls.mu.Unlock()
	status, text, _, err = w.speaks(ctx, t, http.MethodPost, id, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	w.forgets(t, status, text, err)
	w.met(t, sessionDoor, status, text, err)
	return id
}

// forgets tells, and notes, that a process does not know a session that nobody has ended.
func (w *world) forgets(t *tenant, status int, text []byte, err error) bool {
	if err != nil || status != http.StatusNotFound {
		return false
	}
	w.tally.note("session", fmt.Sprintf("of %s: %.300s", t.slug, text))
	return true
}

// speaks is a request in a session; in none, where it begins one, whose id it returns. It has a connection of its own: net/http would repeat some.
func (w *world) speaks(ctx context.Context, t *tenant, method, session, message string) (status int, text []byte, id string, err error) {
	r, err := http.NewRequestWithContext(ctx, method, w.next()+"/mcp", strings.NewReader(message))
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
