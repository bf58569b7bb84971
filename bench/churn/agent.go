package churn

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"
)

// loadAgent lists and calls tools: without a handshake, or in a session (2025-11-25).
type loadAgent struct {
	*Load
	slug, token string
	number      int
	modern      bool

	session string // empty: none
	calls   int64
}

type mcpReply struct {
	status  int
	session string
	Result  json.RawMessage
	Error   *struct {
		Code    int
		Message string
	}
}

// run lists and calls in turn.
func (a *loadAgent) run(run context.Context) {
	ctx := context.WithoutCancel(run)
	for run.Err() == nil {
		if !a.modern && a.session == "" && !a.initializeSession(ctx) {
			continue
		}
		seen := a.listTools(ctx)
		for range 4 {
			a.callTool(ctx, a.untouched[rand.IntN(len(a.untouched))], base)
		}
		if all := a.allSlots(); len(seen) > 0 {
			a.callTool(ctx, all[rand.IntN(len(all))], base)
		}
	}
}

// listTools lists all tools, and judges the list.
func (a *loadAgent) listTools(ctx context.Context) map[string]string {
	start := time.Now()
	r, ok := a.sendRequest(ctx, "tools/list", "", "")
	end := time.Now()
	if !ok {
		return nil
	}
	var list struct {
		Tools      []struct{ Name, Description string }
		NextCursor string
	}
	if r.Error != nil || json.Unmarshal(r.Result, &list) != nil || list.NextCursor != "" {
		if a.Outages && r.Error != nil && r.Error.Code != internalError {
			return nil
		}
		a.recordFault(WrongList, "%s: no list: %d %+v %.300s", a.slug, r.status, r.Error, r.Result)
		return nil
	}
	a.incrementCount(&a.report.Lists)
	seen := make(map[string]string, len(list.Tools))
	for _, t := range list.Tools {
		if _, twice := seen[t.Name]; twice {
			a.recordFault(WrongList, "%s: %s stands on it twice", a.slug, t.Name)
		}
		seen[t.Name] = strings.TrimSuffix(strings.TrimPrefix(t.Description, "Version "), ".")
	}
	a.judgeList(seen, start, end)
	return seen
}

// judgeList compares the list with each connector's possible states.
func (a *loadAgent) judgeList(seen map[string]string, start, end time.Time) {
	bySlot := map[string]map[string]string{}
	for name, version := range seen {
		prefix, _, _ := strings.Cut(strings.TrimPrefix(name, "mcp_"), "-")
		prefix += "-"
		if bySlot[prefix] == nil {
			bySlot[prefix] = map[string]string{}
		}
		bySlot[prefix][name] = version
	}
	for _, s := range a.allSlots() {
		have := bySlot[s.name]
		delete(bySlot, s.name)
		states, judged := s.possibleStates(start.Add(-a.Delay), end)
		if !judged || slices.ContainsFunc(states, func(st connectorState) bool { return maps.Equal(st.listedTools(a.number), have) }) {
			continue
		}
		var want []map[string]string
		for _, st := range states {
			want = append(want, st.listedTools(a.number))
		}
		a.recordFault(WrongList, "%s has %v of %s; possible was %v", a.slug, have, s.name, want)
	}
	for prefix, have := range bySlot {
		a.recordFault(WrongList, "%s has %v, of no connector %s", a.slug, have, prefix)
	}
}

// internalError is a JSON-RPC code.
const internalError = -32603

// callTool calls a tool, and judges the result if the connector had one state only, which allows the call.
func (a *loadAgent) callTool(ctx context.Context, s *slot, name string) {
	a.calls++
	n, slug := a.calls, s.currentState().slug
	start := time.Now()
	r, ok := a.sendRequest(ctx, "tools/call", exposedName(slug, name), fmt.Sprintf(`"arguments":{"n":%d}`, n))
	end := time.Now()
	if !ok {
		return
	}
	a.incrementCount(&a.report.Calls)
	if r.Error != nil && r.Error.Code == internalError {
		a.recordFault(Internal, "%s calls %s: %s", a.slug, exposedName(slug, name), r.Error.Message)
		return
	}
	states, judged := s.possibleStates(start.Add(-a.Delay), end)
	if !judged || len(states) != 1 {
		return
	}
	t := states[0].tools[name]
	if listed := states[0].listedTools(a.number); listed[exposedName(slug, name)] == "" || t.accepted != t.current {
		return
	}
	want := fmt.Sprintf("%s %s %d", s.name, name, n)
	if !a.Outages && !bytes.Contains(r.Result, []byte(`"`+want+`"`)) {
		a.recordFault(FailedCall, "%s calls %s: %d %+v %.300s, want %q", a.slug, exposedName(slug, name), r.status, r.Error, r.Result, want)
	}
}

func (a *loadAgent) initializeSession(ctx context.Context) bool {
	r, ok := a.postMessage(ctx, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"churn","version":"1"}}}`, nil)
	if !ok {
		return false
	}
	if a.session = r.session; a.session == "" {
		if !a.Outages {
			a.recordFault(LostRequest, "%s: no session: %d %+v %s", a.slug, r.status, r.Error, r.Result)
		}
		return false
	}
	_, ok = a.postMessage(ctx, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, a.newHeader("", ""))
	return ok
}

// newHeader is the header of a message in the agent's era.
func (a *loadAgent) newHeader(method, name string) http.Header {
	if !a.modern {
		return http.Header{"Mcp-Session-Id": {a.session}, "Mcp-Protocol-Version": {"2025-11-25"}}
	}
	h := http.Header{"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {method}}
	if name != "" {
		h.Set("Mcp-Name", name)
	}
	return h
}

// sendRequest sends a request in the agent's era. false: no response to judge.
func (a *loadAgent) sendRequest(ctx context.Context, method, name, params string) (mcpReply, bool) {
	var members []string
	if name != "" {
		members = append(members, fmt.Sprintf(`"name":%q`, name))
	}
	if params != "" {
		members = append(members, params)
	}
	if a.modern {
		members = append(members, `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"churn","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`)
	}
	return a.postMessage(ctx, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s}}`, method, strings.Join(members, ",")), a.newHeader(method, name))
}

func (a *loadAgent) postMessage(ctx context.Context, message string, header http.Header) (mcpReply, bool) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.Base+"/mcp", strings.NewReader(message))
	if err != nil {
		a.recordFault(LostRequest, "%s: %v", a.slug, err)
		return mcpReply{}, false
	}
	req.GetBody = nil
	if header != nil {
		req.Header = header
	}
	req.Header.Set("Authorization", "Bearer "+a.token)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	res, err := a.client.Do(req) //nolint:bodyclose // read closes it
	status, text, err := ReadAnswer(res, err)
	if err != nil {
		if !a.Outages {
			a.recordFault(LostRequest, "%s: %v", a.slug, err)
		}
		pauseBriefly(ctx)
		return mcpReply{}, false
	}
	r := mcpReply{status: status, session: res.Header.Get("Mcp-Session-Id")}
	if strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		text = lastData(text)
	}
	switch {
	case status == http.StatusTooManyRequests, status > http.StatusInternalServerError && a.Outages:
		pauseBriefly(ctx)
		return r, false
	case status == http.StatusNotFound && !a.modern && a.Outages:
		a.session = ""
		return r, false
	case status >= http.StatusInternalServerError:
		a.recordFault(Internal, "%s: %d %.300s", a.slug, status, text)
		return r, false
	case len(text) > 0 && json.Unmarshal(text, &r) != nil:
		if !a.Outages { // else the response was cut off
			a.recordFault(LostRequest, "%s: %d %.300s", a.slug, status, text)
		}
		return r, false
	}
	return r, true
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

// isOutage reports whether an action's outcome is unknown, or an outage refused it.
func isOutage(err error) bool {
	r, refused := errors.AsType[*apiError](err)
	return !refused || r.status >= http.StatusInternalServerError
}
