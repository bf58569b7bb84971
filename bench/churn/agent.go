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

// agent lists and calls: without a handshake, or in a session of 2025-11-25.
type agent struct {
	*Load
	slug, token string
	number      int
	modern      bool

	session string // empty: none
	calls   int64
}

// reply is what a message was answered.
type reply struct {
	status  int
	session string
	Result  json.RawMessage
	Error   *struct {
		Code    int
		Message string
	}
}

// work lists and calls in turns.
func (a *agent) work(work context.Context) {
	ctx := context.WithoutCancel(work)
	for work.Err() == nil {
		if !a.modern && a.session == "" && !a.initialize(ctx) {
			continue
		}
		seen := a.list(ctx)
		for range 4 {
			a.call(ctx, a.untouched[rand.IntN(len(a.untouched))], base)
		}
		if all := a.allSlots(); len(seen) > 0 {
			a.call(ctx, all[rand.IntN(len(all))], base)
		}
	}
}

// list asks for the list of all tools, and judges it.
func (a *agent) list(ctx context.Context) map[string]string {
	began := time.Now()
	r, ok := a.send(ctx, "tools/list", "", "")
	ended := time.Now()
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
		a.fault(WrongList, "%s: no list: %d %+v %.300s", a.slug, r.status, r.Error, r.Result)
		return nil
	}
	a.count(&a.report.Lists)
	seen := make(map[string]string, len(list.Tools))
	for _, t := range list.Tools {
		if _, twice := seen[t.Name]; twice {
			a.fault(WrongList, "%s: %s stands on it twice", a.slug, t.Name)
		}
		seen[t.Name] = strings.TrimSuffix(strings.TrimPrefix(t.Description, "Version "), ".")
	}
	a.judge(seen, began, ended)
	return seen
}

// judge holds what a list has of each connector against the states that were possible meanwhile.
func (a *agent) judge(seen map[string]string, began, ended time.Time) {
	bySlot := map[string]map[string]string{}
	for name, version := range seen {
		of, _, _ := strings.Cut(strings.TrimPrefix(name, "mcp_"), "-")
		of += "-"
		if bySlot[of] == nil {
			bySlot[of] = map[string]string{}
		}
		bySlot[of][name] = version
	}
	for _, s := range a.allSlots() {
		have := bySlot[s.name]
		delete(bySlot, s.name)
		states, judged := s.possible(began.Add(-a.Delay), ended)
		if !judged || slices.ContainsFunc(states, func(st state) bool { return maps.Equal(st.listed(a.number), have) }) {
			continue
		}
		var want []map[string]string
		for _, st := range states {
			want = append(want, st.listed(a.number))
		}
		a.fault(WrongList, "%s has %v of %s; possible was %v", a.slug, have, s.name, want)
	}
	for of, have := range bySlot {
		a.fault(WrongList, "%s has %v, of no connector %s", a.slug, have, of)
	}
}

// internalError is JSON-RPC's code.
const internalError = -32603

// call calls a tool, and judges the result where the connector was in one state meanwhile, in which the tool may be called.
func (a *agent) call(ctx context.Context, s *slot, name string) {
	a.calls++
	n, slug := a.calls, s.now().slug
	began := time.Now()
	r, ok := a.send(ctx, "tools/call", exposed(slug, name), fmt.Sprintf(`"arguments":{"n":%d}`, n))
	ended := time.Now()
	if !ok {
		return
	}
	a.count(&a.report.Calls)
	if r.Error != nil && r.Error.Code == internalError {
		a.fault(Internal, "%s calls %s: %s", a.slug, exposed(slug, name), r.Error.Message)
		return
	}
	states, judged := s.possible(began.Add(-a.Delay), ended)
	if !judged || len(states) != 1 {
		return
	}
	t := states[0].tools[name]
	if listed := states[0].listed(a.number); listed[exposed(slug, name)] == "" || t.accepted != t.current {
		return
	}
	want := fmt.Sprintf("%s %s %d", s.name, name, n)
	if !a.Outages && !bytes.Contains(r.Result, []byte(`"`+want+`"`)) {
		a.fault(FailedCall, "%s calls %s: %d %+v %.300s, want %q", a.slug, exposed(slug, name), r.status, r.Error, r.Result, want)
	}
}

func (a *agent) initialize(ctx context.Context) bool {
	r, ok := a.post(ctx, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"churn","version":"1"}}}`, nil)
	if !ok {
		return false
	}
	if a.session = r.session; a.session == "" {
		if !a.Outages {
			a.fault(LostRequest, "%s: no session: %d %+v %s", a.slug, r.status, r.Error, r.Result)
		}
		return false
	}
	_, ok = a.post(ctx, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, a.header("", ""))
	return ok
}

// header are the headers of a message in the agent's era.
func (a *agent) header(method, name string) http.Header {
	if !a.modern {
		return http.Header{"Mcp-Session-Id": {a.session}, "Mcp-Protocol-Version": {"2025-11-25"}}
	}
	h := http.Header{"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {method}}
	if name != "" {
		h.Set("Mcp-Name", name)
	}
	return h
}

// send sends a request in the agent's era. It is false where there was no answer to judge.
func (a *agent) send(ctx context.Context, method, name, params string) (reply, bool) {
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
	return a.post(ctx, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s}}`, method, strings.Join(members, ",")), a.header(method, name))
}

func (a *agent) post(ctx context.Context, message string, header http.Header) (reply, bool) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.Base+"/mcp", strings.NewReader(message))
	if err != nil {
		a.fault(LostRequest, "%s: %v", a.slug, err)
		return reply{}, false
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
			a.fault(LostRequest, "%s: %v", a.slug, err)
		}
		pause(ctx)
		return reply{}, false
	}
	r := reply{status: status, session: res.Header.Get("Mcp-Session-Id")}
	if strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		text = lastData(text)
	}
	switch {
	case status == http.StatusTooManyRequests, status > http.StatusInternalServerError && a.Outages:
		pause(ctx)
		return r, false
	case status == http.StatusNotFound && !a.modern && a.Outages:
		a.session = ""
		return r, false
	case status >= http.StatusInternalServerError:
		a.fault(Internal, "%s: %d %.300s", a.slug, status, text)
		return r, false
	case len(text) > 0 && json.Unmarshal(text, &r) != nil:
		if !a.Outages { // else the rest was lost
			a.fault(LostRequest, "%s: %d %.300s", a.slug, status, text)
		}
		return r, false
	}
	return r, true
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

// isOutage reports whether an act had no clear end, or was refused because something is away.
func isOutage(err error) bool {
	r, refused := errors.AsType[*refusal](err)
	return !refused || r.status >= http.StatusInternalServerError
}
