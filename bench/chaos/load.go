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

// calledConnectors are the slugs of the called connectors.
var calledConnectors = []string{"work", "machine", "notes"}

// startLoad starts the load on all interfaces.
func (w *world) startLoad(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	loop := func(pause time.Duration, f func(context.Context)) {
		all.Go(func() {
			for ctx.Err() == nil {
				// requests in flight finish: they may be acknowledged
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
				loop(20*time.Millisecond, func(ctx context.Context) { w.callTool(ctx, t, connector, sse) })
			}
		}
		for _, connector := range calledConnectors {
			loop(50*time.Millisecond, w.sessionLoop(t, connector))
		}
		for _, path := range []string{"/api/v1/connectors", "/api/v1/agents", "/api/v1/audit_events", "/api/v1/connectors/machine/tools"} {
			loop(100*time.Millisecond, func(ctx context.Context) { w.readAPI(ctx, t, path) })
		}
		for _, path := range []string{"/", "/connectors", "/agents", "/calls", "/audit"} {
			loop(200*time.Millisecond, func(ctx context.Context) { w.readPage(ctx, t, path) })
		}
		for n := range 2 {
			loop(50*time.Millisecond, w.writeLoop(t, fmt.Sprintf("api-%d-%d", i, n), w.createByAPI))
		}
		loop(100*time.Millisecond, w.writeLoop(t, fmt.Sprintf("form-%d", i), w.createByForm))
		for _, connector := range calledConnectors {
			loop(500*time.Millisecond, func(ctx context.Context) { w.syncConnector(ctx, t, connector) })
		}
		loop(500*time.Millisecond, func(ctx context.Context) { w.testWebhook(ctx, t) })
		loop(2*time.Second, func(ctx context.Context) { w.reconnectAccounts(ctx, t) })
		for n := range 2 {
			loop(50*time.Millisecond, w.programLoop(t))
			loop(100*time.Millisecond, w.signInLoop(t, n))
		}
		loop(100*time.Millisecond, w.assistantLoop(t, i))
	}
	return func() {
		cancel()
		all.Wait()
		w.client.CloseIdleConnections()
	}
}

// toOutcome classifies a response.
func toOutcome(status int, err error) string {
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

// addResponse counts a response, and reports unexpected refusals.
func (w *world) addResponse(t *tenant, door string, status int, text []byte, err error) {
	w.inspectResponse(t, door, status, text, err)
	switch status {
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusUnprocessableEntity:
		w.tally.recordProblem("refused", fmt.Sprintf("%s: %d %.300s", door, status, text))
	}
}

// inspectResponse counts a response that may be a refusal.
func (w *world) inspectResponse(t *tenant, door string, status int, text []byte, err error) {
	w.tally.countOutcome(door, toOutcome(status, err))
	w.inspectText(t, door, text)
	if status == http.StatusInternalServerError {
		w.tally.recordProblem("500", fmt.Sprintf("%s: %.300s", door, text))
	}
}

func (w *world) readAPI(ctx context.Context, t *tenant, path string) {
	status, text, err := w.requestAPI(ctx, t, http.MethodGet, path, nil)
	w.addResponse(t, "API, reads", status, text, err)
}

func (w *world) syncConnector(ctx context.Context, t *tenant, connector string) {
	status, text, err := w.requestAPI(ctx, t, http.MethodPost, "/connectors/"+connector+"/sync_tools", nil)
	if connector != "work" {
		connector = "with OAuth"
	}
	w.addResponse(t, "syncs, "+connector, status, text, err)
}

func (w *world) readPage(ctx context.Context, t *tenant, path string) {
	status, text, location, err := w.browserRequest(ctx, t, http.MethodGet, path, nil)
	w.addResponse(t, "dashboard, pages", status, text, err)
	if strings.HasPrefix(location, "/login") {
		w.tally.recordProblem("signed out", path)
	}
}

func (w *world) browserRequest(ctx context.Context, t *tenant, method, path string, form url.Values) (status int, text []byte, location string, err error) {
	r, err := http.NewRequestWithContext(ctx, method, w.nextReplica()+path, strings.NewReader(form.Encode()))
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

// testWebhook sends a test message, and compares the result with the receiver.
func (w *world) testWebhook(ctx context.Context, t *tenant) {
	status, text, err := w.requestAPI(ctx, t, http.MethodPost, "/api/v1/webhooks/"+t.hook+"/test", nil)
	w.addResponse(t, "webhooks, tests", status, text, err)
	var delivery struct {
		State   string
		Message string `json:"message_id"`
	}
	if status != http.StatusOK || json.Unmarshal(text, &delivery) != nil || delivery.State != "delivered" {
		return
	}
	w.up.hooks.Lock()
	defer w.up.hooks.Unlock()
	if !w.up.hooks.seen[delivery.Message] {
		w.tally.recordProblem("webhook", delivery.Message+" is said to have arrived")
	}
}

// reconnectAccounts acts for a person: it reconnects an account after a lost rotation, and enters the machine's
// secret again after a refusal.
func (w *world) reconnectAccounts(ctx context.Context, t *tenant) {
	for connector, reconnect := range map[string]func(context.Context, *tenant) error{"notes": w.connectAccount, "machine": w.enterSecret} {
		var all struct{ Items []struct{ Status string } }
		status, text, err := w.requestAPI(ctx, t, http.MethodGet, "/api/v1/connectors/"+connector+"/credentials", nil)
		w.addResponse(t, "API, reads", status, text, err)
		if err != nil || status != http.StatusOK || json.Unmarshal(text, &all) != nil || len(all.Items) == 0 || all.Items[0].Status != "revoked" {
			continue
		}
		if reconnect(ctx, t) == nil {
			w.tally.countOutcome("accounts connected again, by a person", "answered")
		} else {
			w.tally.countOutcome("accounts connected again, by a person", "not yet")
		}
	}
}

func (w *world) enterSecret(ctx context.Context, t *tenant) error {
	return w.requireAPI(ctx, t, http.MethodPut, "/api/v1/connectors/machine/credential", map[string]any{"client_secret": t.machine}, nil)
}

type callLog struct {
	mu       sync.Mutex // guards the fields below
	made     int64
	sessions int64             // begun sessions
	answered map[int64]*tenant // by call number
}

// answeredFor counts a tenant's answered calls.
func (c *callLog) answeredFor(t *tenant) (n int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, owner := range c.answered {
		if owner == t {
			n++
		}
	}
	return n
}

func (w *world) nextCall() int64 {
	w.calls.mu.Lock()
	defer w.calls.mu.Unlock()
	w.calls.made++
	return w.calls.made
}

// callTool calls a tool once. The server counts its number.
func (w *world) callTool(ctx context.Context, t *tenant, connector string, sse bool) {
	door := "gateway, JSON"
	if sse {
		door = "gateway, SSE"
	}
	n := w.nextCall()
	status, text, err := w.sendToolCall(ctx, "/mcp", t.robot, "mcp_"+connector+"__work", n, sse)
	w.recordCall(t, door, n, status, text, err)
}

func (w *world) sendToolCall(ctx context.Context, address, token, name string, n int64, sse bool) (int, []byte, error) {
	return w.sendMessage(ctx, address, token, name, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":{"n":%d,"sse":%t},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
		`"io.modelcontextprotocol/clientInfo":{"name":"chaos","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`, n, name, n, sse))
}

// sendMessage sends a tools/call message.
func (w *world) sendMessage(ctx context.Context, address, token, name, sendMessage string) (status int, text []byte, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.nextReplica()+address, strings.NewReader(sendMessage))
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

func (w *world) recordCall(t *tenant, door string, n int64, status int, text []byte, err error) {
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
			err = io.ErrUnexpectedEOF // a broken stream
		}
	}
	if err != nil || status != http.StatusOK {
		w.addResponse(t, door, status, text, err)
		return
	}
	w.inspectText(t, door, text)
	switch {
	case m.Result == nil || m.Result.IsError:
		w.tally.countOutcome(door, "told why not")
	case m.ID != n || len(m.Result.Content) != 1 || m.Result.Content[0].Text != fmt.Sprintf("%s n=%d.", t.mark, n):
		w.tally.recordProblem("another answer", fmt.Sprintf("call %d: %.300s", n, text))
	default:
		w.tally.countOutcome(door, "answered")
		w.calls.mu.Lock()
		defer w.calls.mu.Unlock()
		w.calls.answered[n] = t
	}
}

// lastData is the data of the last event.
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
