package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"patchbay/bench/churn"
)

// calledConnectors are the slugs of those that agents call.
var calledConnectors = []string{"work", "machine", "notes"}

// load puts load on every door, until stop.
func (w *world) load(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	loop := func(pause time.Duration, f func(context.Context)) {
		all.Go(func() {
			for ctx.Err() == nil {
				// What is under way when the load ends is finished: it may have been acknowledged.
				f(context.WithoutCancel(ctx))
				select {
				case <-ctx.Done():
				case <-time.After(pause):
				}
			}
		})
	}
	all.Go(func() { w.churned = w.churn.Run(ctx) })
	for i, t := range w.tenants {
		for _, sse := range []bool{false, true} {
			for _, connector := range calledConnectors {
				loop(20*time.Millisecond, func(ctx context.Context) { w.call(ctx, t, connector, sse) })
			}
		}
		for _, connector := range calledConnectors {
			loop(50*time.Millisecond, w.inSession(t, connector))
		}
		for _, path := range []string{"/api/v1/connectors", "/api/v1/agents", "/api/v1/audit_events", "/api/v1/connectors/machine/tools"} {
			loop(100*time.Millisecond, func(ctx context.Context) { w.reads(ctx, t, path) })
		}
		for _, path := range []string{"/", "/connectors", "/agents", "/calls", "/audit"} {
			loop(200*time.Millisecond, func(ctx context.Context) { w.visits(ctx, t, path) })
		}
		for n := range 2 {
			loop(50*time.Millisecond, w.writer(t, fmt.Sprintf("api-%d-%d", i, n), w.createByAPI))
		}
		loop(100*time.Millisecond, w.writer(t, fmt.Sprintf("form-%d", i), w.createByForm))
		for _, connector := range calledConnectors {
			loop(500*time.Millisecond, func(ctx context.Context) { w.syncs(ctx, t, connector) })
		}
		loop(500*time.Millisecond, func(ctx context.Context) { w.rings(ctx, t) })
		loop(2*time.Second, func(ctx context.Context) { w.reconnects(ctx, t) })
		for n := range 2 {
			loop(50*time.Millisecond, w.comesAndGoes(t))
			loop(100*time.Millisecond, w.arrives(t, n))
		}
		loop(100*time.Millisecond, w.assists(t, i))
	}
	return func() {
		cancel()
		all.Wait()
		w.client.CloseIdleConnections()
	}
}

// kindOf says what came of a request.
func kindOf(status int, err error) string {
	netErr, isNet := errors.AsType[net.Error](err)
	switch {
	case err != nil && isNet && netErr.Timeout():
		return "no answer in 40 s"
	case err != nil:
		return "connection lost or refused"
	case status < 400:
		return "answered"
	case status == http.StatusServiceUnavailable, status == http.StatusTooManyRequests:
		return fmt.Sprintf("told to come back (%d)", status)
	default:
		return fmt.Sprint(status)
	}
}

// met counts an answer, and looks at what is in it.
func (w *world) met(t *tenant, door string, status int, text []byte, err error) {
	w.heard(t, door, status, text, err)
	switch status {
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusUnprocessableEntity:
		w.tally.note("refused", fmt.Sprintf("%s: %d %.300s", door, status, text))
	}
}

// heard is met where a refusal may be what is right.
func (w *world) heard(t *tenant, door string, status int, text []byte, err error) {
	w.tally.count(door, kindOf(status, err))
	w.look(t, door, text)
	if status == http.StatusInternalServerError {
		w.tally.note("500", fmt.Sprintf("%s: %.300s", door, text))
	}
}

func (w *world) reads(ctx context.Context, t *tenant, path string) {
	status, text, err := w.api(ctx, t, http.MethodGet, path, nil)
	w.met(t, "API, reads", status, text, err)
}

func (w *world) syncs(ctx context.Context, t *tenant, connector string) {
	status, text, err := w.api(ctx, t, http.MethodPost, "/connectors/"+connector+"/sync_tools", nil)
	if connector != "work" {
		connector = "with OAuth"
	}
	w.met(t, "syncs, "+connector, status, text, err)
}

// visits reads a page.
func (w *world) visits(ctx context.Context, t *tenant, path string) {
	status, text, to, err := w.browse(ctx, t, http.MethodGet, path, nil)
	w.met(t, "dashboard, pages", status, text, err)
	if strings.HasPrefix(to, "/login") {
		w.tally.note("signed out", path)
	}
}

func (w *world) browse(ctx context.Context, t *tenant, method, path string, form url.Values) (status int, text []byte, to string, err error) {
	r, err := http.NewRequestWithContext(ctx, method, w.next()+path, strings.NewReader(form.Encode()))
	if err != nil {
		return 0, nil, "", err
	}
	r.GetBody = nil
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	a, err := t.person.Do(r) //nolint:bodyclose // ReadAnswer closes it
	if err != nil {
		return 0, nil, "", err
	}
	status, text, err = churn.ReadAnswer(a, nil)
	return status, text, a.Header.Get("Location"), err
}

// rings has the webhook told something, and holds what it says of that against its receiver.
func (w *world) rings(ctx context.Context, t *tenant) {
	status, text, err := w.api(ctx, t, http.MethodPost, "/api/v1/webhooks/"+t.hook+"/test", nil)
	w.met(t, "webhooks, tests", status, text, err)
	var told struct {
		State   string
		Message string `json:"message_id"`
	}
	if status != http.StatusOK || json.Unmarshal(text, &told) != nil || told.State != "delivered" {
		return
	}
	w.up.hooks.Lock()
	defer w.up.hooks.Unlock()
	if !w.up.hooks.seen[told.Message] {
		w.tally.note("webhook", told.Message+" is said to have arrived")
	}
}

// reconnects does what nobody but a person can: it connects the account again where an answer was lost that held its next token, and enters the
// machine's secret again where the authorization server said that it is none.
func (w *world) reconnects(ctx context.Context, t *tenant) {
	for connector, mend := range map[string]func(context.Context, *tenant) error{"notes": w.connect, "machine": w.enterSecret} {
		var all struct{ Items []struct{ Status string } }
		status, text, err := w.api(ctx, t, http.MethodGet, "/api/v1/connectors/"+connector+"/credentials", nil)
		w.met(t, "API, reads", status, text, err)
		if err != nil || status != http.StatusOK || json.Unmarshal(text, &all) != nil || len(all.Items) == 0 || all.Items[0].Status != "revoked" {
			continue
		}
		if mend(ctx, t) == nil {
			w.tally.count("accounts connected again, by a person", "answered")
		} else {
			w.tally.count("accounts connected again, by a person", "not yet")
		}
	}
}

func (w *world) enterSecret(ctx context.Context, t *tenant) error {
	return w.ask(ctx, t, http.MethodPut, "/api/v1/connectors/machine/credential", map[string]any{"client_secret": t.machine}, nil)
}

// calls are the calls of agents: which were answered.
type calls struct {
	mu       sync.Mutex // guards what follows
	made     int64
	sessions int64             // that were begun
	answered map[int64]*tenant // whose each is
}

// of is how many of a tenant's were answered.
func (c *calls) of(t *tenant) (n int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, whose := range c.answered {
		if whose == t {
			n++
		}
	}
	return n
}

// nextCall is the number of a call that is to be made.
func (w *world) nextCall() int64 {
	w.calls.mu.Lock()
	defer w.calls.mu.Unlock()
	w.calls.made++
	return w.calls.made
}

// call calls a tool once. Its number tells at the server how often it came.
func (w *world) call(ctx context.Context, t *tenant, connector string, sse bool) {
	door := "gateway, JSON"
	if sse {
		door = "gateway, SSE"
	}
	n := w.nextCall()
	status, text, err := w.toolCall(ctx, "/mcp", t.robot, "mcp_"+connector+"__work", n, sse)
	w.settleCall(t, door, n, status, text, err)
}

// toolCall is a call at an address, with a token.
func (w *world) toolCall(ctx context.Context, address, token, name string, n int64, sse bool) (int, []byte, error) {
	return w.message(ctx, address, token, name, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":{"n":%d,"sse":%t},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
		`"io.modelcontextprotocol/clientInfo":{"name":"chaos","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`, n, name, n, sse))
}

// message sends a message that is about a tool.
func (w *world) message(ctx context.Context, address, token, name, message string) (status int, text []byte, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.next()+address, strings.NewReader(message))
	if err != nil {
		return 0, nil, err
	}
	r.GetBody = nil
	r.Header = http.Header{
		"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
		"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"tools/call"}, "Mcp-Name": {name},
	}
	a, err := w.client.Do(r) //nolint:bodyclose // ReadAnswer closes it
	if err != nil {
		return 0, nil, err
	}
	stream := strings.HasPrefix(a.Header.Get("Content-Type"), "text/event-stream")
	if status, text, err = churn.ReadAnswer(a, nil); err == nil && stream {
		text = lastData(text)
	}
	return status, text, err
}

// settleCall notes what a call was answered.
func (w *world) settleCall(t *tenant, door string, n int64, status int, text []byte, err error) {
	var m struct {
		ID     int64
		Result *struct {
			IsError bool
			Content []struct{ Text string }
		}
		Error json.RawMessage
	}
	if err == nil && status == http.StatusOK {
		if jsonErr := json.Unmarshal(text, &m); jsonErr != nil {
			err = io.ErrUnexpectedEOF // a stream that broke off
		}
	}
	if err != nil || status != http.StatusOK {
		w.met(t, door, status, text, err)
		return
	}
	w.look(t, door, text)
	switch {
	case m.Result == nil || m.Result.IsError:
		w.tally.count(door, "told why not")
	case m.ID != n || len(m.Result.Content) != 1 || m.Result.Content[0].Text != fmt.Sprintf("%s n=%d.", t.mark, n):
		w.tally.note("another answer", fmt.Sprintf("call %d: %.300s", n, text))
	default:
		w.tally.count(door, "answered")
		w.calls.mu.Lock()
		defer w.calls.mu.Unlock()
		w.calls.answered[n] = t
	}
}

// lastData is the data of a stream's last event.
func lastData(stream []byte) (last []byte) {
	lines := bufio.NewScanner(bytes.NewReader(stream))
	lines.Buffer(nil, 8<<20)
	for lines.Scan() {
		if data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data: ")); ok {
			last = bytes.Clone(data)
		}
	}
	return last
}
