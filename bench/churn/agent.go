package churn

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"
)

// loadAgent lists and calls: without a handshake, or in sessions (2025-11-25).
type loadAgent struct {
	*Load
	slug, token string
	number      int
	modern      bool

	sessions map[string]string // by connector's slug; "": of /mcp
	calls    int64
}

// mcpRequest is a request at /mcp, or with a slug at a connector's own address.
type mcpRequest struct {
	slug, method string
	name         string // param; empty: none
	params       string // other members of the params
}

type mcpReply struct {
	status  int
	session string
	refused bool // the agent has no such connector
	Result  json.RawMessage
	Error   *struct {
		Code    int
		Message string
	}
}

// run lists and calls in turn.
func (a *loadAgent) run(run context.Context) {
	ctx := context.WithoutCancel(run)
	for n := a.number; run.Err() == nil; n++ {
		seen := a.requestList(ctx, toolList)
		a.requestList(ctx, allLists[1+n%3])
		a.requestOwnList(ctx, allLists[n%4], a.chooseSlot())
		for range 4 {
			a.callTool(ctx, a.untouched[rand.IntN(len(a.untouched))])
		}
		if len(seen) > 0 {
			a.callTool(ctx, a.chooseSlot())
		}
	}
}

// chooseSlot chooses a slot that has a connector and is judged.
func (a *loadAgent) chooseSlot() *slot {
	var all []*slot
	for _, s := range a.allSlots() {
		if s.isChoosable() {
			all = append(all, s)
		}
	}
	return all[rand.IntN(len(all))] // the untouched ones at least
}

// requestList requests a list at /mcp, and judges it.
func (a *loadAgent) requestList(ctx context.Context, k listKind) (seen map[string]string) {
	start := time.Now()
	r, ok := a.sendRequest(ctx, mcpRequest{method: k.method})
	if !ok {
		return nil
	}
	in := interval{start, time.Now()}
	if seen, ok = a.readList(k, "", r, in); ok {
		a.judgeList(k, seen, in)
	}
	return seen
}

// requestOwnList requests a list at the connector's own address, and judges the response.
func (a *loadAgent) requestOwnList(ctx context.Context, k listKind, s *slot) {
	slug := s.currentState().slug
	if slug == "" { // deleted since it was chosen
		return
	}
	start := time.Now()
	r, ok := a.sendRequest(ctx, mcpRequest{slug: slug, method: k.method})
	if !ok {
		return
	}
	in := interval{start, time.Now()}
	if r.refused {
		a.judgeOwnList(k, s, ownList{slug: slug, refused: true}, in)
	} else if seen, ok := a.readList(k, slug, r, in); ok {
		a.judgeOwnList(k, s, ownList{slug: slug, seen: seen}, in)
	}
}

// readList reads and counts a list: versions by key. During an outage an error is no fault.
func (a *loadAgent) readList(k listKind, slug string, r mcpReply, in interval) (seen map[string]string, ok bool) {
	seen, repeated, ok := k.readResult(r.Result)
	if r.Error != nil || !ok {
		if r.Error == nil || r.Error.Code == internalError || a.Outages.isHealthy(in.start) {
			a.recordFault(WrongList, "%s: no %s: %d %+v %.300s", a.slug, k.reportKey(slug), r.status, r.Error, r.Result)
		}
		return nil, false
	}
	for _, key := range repeated {
		a.recordFault(WrongList, "%s: %s is twice in %s", a.slug, key, k.reportKey(slug))
	}
	a.countReport(func(r *Report) { r.Lists[k.reportKey(slug)]++ })
	return seen, true
}

// internalError is a JSON-RPC code.
const internalError = -32603

// callTool calls the tool base, and judges the response.
func (a *loadAgent) callTool(ctx context.Context, s *slot) {
	a.calls++
	c := toolCall{slug: s.currentState().slug, name: base, number: a.calls}
	start := time.Now()
	var ok bool
	c.reply, ok = a.sendRequest(ctx, mcpRequest{method: "tools/call", name: exposedName(c.slug, base), params: fmt.Sprintf(`"arguments":{"n":%d}`, c.number)})
	if ok {
		a.countReport(func(r *Report) { r.Calls++ })
		a.judgeCall(s, c, interval{start, time.Now()})
	}
}

// beginSession begins a session at /mcp, or at a connector's own address.
func (a *loadAgent) beginSession(ctx context.Context, slug string) (r mcpReply, ok bool) {
	start := time.Now()
	r, ok = a.postMessage(ctx, slug, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"churn","version":"1"}}}`, nil)
	if !ok || r.refused {
		return r, ok
	}
	if r.session == "" {
		if a.Outages.isHealthy(start) {
			a.recordFault(LostRequest, "%s: no session: %d %+v %s", a.slug, r.status, r.Error, r.Result)
		}
		pauseBriefly(ctx)
		return r, false
	}
	a.sessions[slug] = r.session
	return a.postMessage(ctx, slug, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, a.newHeader(mcpRequest{slug: slug}))
}

// newHeader is the header of a message in the agent's era.
func (a *loadAgent) newHeader(q mcpRequest) http.Header {
	if !a.modern {
		return http.Header{"Mcp-Session-Id": {a.sessions[q.slug]}, "Mcp-Protocol-Version": {"2025-11-25"}}
	}
	h := http.Header{"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {q.method}}
	if q.name != "" {
		h.Set("Mcp-Name", q.name)
	}
	return h
}

// sendRequest sends a request in the agent's era. false: no response to judge.
func (a *loadAgent) sendRequest(ctx context.Context, q mcpRequest) (mcpReply, bool) {
	if !a.modern && a.sessions[q.slug] == "" {
		if r, ok := a.beginSession(ctx, q.slug); !ok || r.refused {
			return r, ok
		}
	}
	var members []string
	if q.name != "" {
		members = append(members, fmt.Sprintf(`"name":%q`, q.name))
	}
	if q.params != "" {
		members = append(members, q.params)
	}
	if a.modern {
		members = append(members, `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"churn","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`)
	}
	return a.postMessage(ctx, q.slug, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s}}`, q.method, strings.Join(members, ",")), a.newHeader(q))
}

// postMessage sends a message, and reads the response. false: no response to judge.
func (a *loadAgent) postMessage(ctx context.Context, slug, message string, header http.Header) (mcpReply, bool) {
	start := time.Now()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(a.Base+"/mcp/"+slug, "/"), strings.NewReader(message))
	if err != nil {
		a.recordFault(LostRequest, "%s: %v", a.slug, err)
		return mcpReply{}, false
	}
	req.GetBody = nil // net/http would retry some requests
	if header != nil {
		req.Header = header
	}
	req.Header.Set("Authorization", "Bearer "+a.token)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	res, err := a.client.Do(req) //nolint:bodyclose // ReadAnswer closes it
	status, text, err := ReadAnswer(res, err)
	if err != nil {
		if a.Outages.isHealthy(start) {
			a.recordFault(LostRequest, "%s: %v", a.slug, err)
		}
		pauseBriefly(ctx)
		return mcpReply{}, false
	}
	r := mcpReply{status: status, session: res.Header.Get("Mcp-Session-Id")}
	mediaType := res.Header.Get("Content-Type")
	if strings.HasPrefix(mediaType, "text/event-stream") {
		text = lastData(text)
	}
	healthy := a.Outages.isHealthy(start)
	switch {
	case status == http.StatusTooManyRequests, status > http.StatusInternalServerError && !healthy:
		pauseBriefly(ctx)
		return r, false
	case status >= http.StatusInternalServerError:
		a.recordFault(Internal, "%s: %d %.300s", a.slug, status, text)
		return r, false
	case status == http.StatusNotFound && strings.HasPrefix(mediaType, "application/problem+json"):
		r.refused = true
		return r, true
	case status == http.StatusNotFound && req.Header.Get("Mcp-Session-Id") != "":
		delete(a.sessions, slug)
		if healthy {
			a.recordFault(LostRequest, "%s: the session is unknown: %.300s", a.slug, text)
		}
		return r, false
	case len(text) > 0 && json.Unmarshal(text, &r) != nil: // the response was cut off
		if healthy {
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
