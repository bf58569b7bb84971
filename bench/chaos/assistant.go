package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

const assistantDoor = "an admin's assistant (/mcp/admin)"

// act is something that an assistant had done: at most once, and once where that was acknowledged.
type act struct {
	tenant *tenant
	action string // in the audit log
	target string
	acked  bool
	stays  bool // what it made was not removed
}

// acts are all of them.
type acts struct {
	mu  sync.Mutex // guards all
	all []*act
}

func (w *world) attempts(t *tenant, action, target string) *act {
	a := &act{tenant: t, action: action, target: target}
	w.acts.mu.Lock()
	defer w.acts.mu.Unlock()
	w.acts.all = append(w.acts.all, a)
	return a
}

func (w *world) done(a *act) {
	a.acked = true
	w.acknowledged()
}

// assists has an assistant look around, add connectors, and grant tools to which a person agrees.
func (w *world) assists(t *tenant, i int) func(context.Context) {
	n := 0
	return func(ctx context.Context) {
		n++
		w.tool(ctx, t, "list_connectors", map[string]any{}, nil)
		w.tool(ctx, t, "get_usage_stats", map[string]any{}, nil)
		slug := fmt.Sprintf("helped-%d-%d", i, n)
		added := w.attempts(t, "connector.create", slug)
		if w.tool(ctx, t, "add_connector", map[string]any{"name": t.mark + " " + slug, "slug": slug, "url": w.up.address(t, "mcp")}, nil).done {
			w.done(added)
			added.stays = true
			if n%4 > 0 {
				added.stays = false
				status, text, err := w.api(ctx, t, http.MethodDelete, "/api/v1/connectors/"+slug, nil)
				w.met(t, "API, writes", status, text, err)
			}
		}
		status, text, err := w.api(ctx, t, http.MethodPost, "/api/v1/agents", map[string]any{"name": t.mark + " " + slug, "slug": slug})
		w.met(t, "API, writes", status, text, err)
		if err == nil && status < 300 {
			w.grants(ctx, t, slug)
		}
	}
}

// grants grants a tool to an agent. A person is asked first, and the answer may reach another process than the one that asked.
func (w *world) grants(ctx context.Context, t *tenant, agent string) {
	granted := w.attempts(t, "agent_grant.set", agent+"/work")
	arguments := map[string]any{"agent": agent, "connector": "work", "tools": []string{"work"}}
	asked := w.tool(ctx, t, "grant_tools", arguments, nil)
	if asked.done {
		w.tally.note("unasked", "an assistant granted a tool, and no person was asked")
	}
	if asked.state == "" {
		return
	}
	yes := map[string]any{"requestState": asked.state, "inputResponses": map[string]any{"confirm": map[string]any{"action": "accept", "content": map[string]any{"agree": true}}}}
	if w.tool(ctx, t, "grant_tools", arguments, yes).done {
		w.done(granted)
	}
}

// assisted is what a tool of the assistant's came to.
type assisted struct {
	done  bool
	state string // a person is to be asked
}

// tool uses one, with more beside its arguments.
func (w *world) tool(ctx context.Context, t *tenant, name string, arguments, more map[string]any) assisted {
	began := time.Now()
	params := map[string]any{"name": name, "arguments": arguments, "_meta": map[string]any{
		"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientInfo": map[string]any{"name": "chaos", "version": "1"},
		"io.modelcontextprotocol/clientCapabilities": map[string]any{"elicitation": map[string]any{"form": map[string]any{}}},
	}}
	for key, value := range more {
		params[key] = value
	}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
	if err != nil {
		return assisted{}
	}
	status, text, err := w.message(ctx, "/mcp/admin", t.assistant, name, string(body))
	var m struct {
		Result *struct {
			Type    string `json:"resultType"`
			State   string `json:"requestState"`
			IsError bool   `json:"isError"`
			Meta    map[string]struct {
				Code   string
				Status int
			} `json:"_meta"`
		}
		Error json.RawMessage
	}
	if err == nil && status == http.StatusOK && json.Unmarshal(text, &m) != nil {
		w.tally.note("unclear", fmt.Sprintf("%s: %.300s", assistantDoor, text))
	}
	switch {
	case err != nil || status != http.StatusOK:
		w.met(t, assistantDoor, status, text, err)
	case m.Result == nil:
		w.look(t, assistantDoor, text)
		w.tally.note("unclear", fmt.Sprintf("%s, %s: %s", assistantDoor, name, m.Error))
	case m.Result.IsError:
		why := m.Result.Meta["patchbay/reason"]
		if why.Code == "confirmation-expired" && !w.clocksRight(began) {
			w.tally.count(assistantDoor, "told that the question was open for too long, where the clock had jumped")
			return assisted{}
		}
		w.met(t, assistantDoor, max(why.Status, http.StatusBadRequest), text, nil)
	default:
		w.met(t, assistantDoor, status, text, nil)
		return assisted{done: m.Result.Type != "input_required", state: m.Result.State}
	}
	return assisted{}
}

// actsAfterwards holds what assistants had done against the audit log, where each act is once, as their key's, and against what is there.
func (w *world) actsAfterwards(ctx context.Context, t *tenant) error {
	var events []acted
	for _, action := range []string{"connector.create", "agent_grant.set"} {
		some, err := everything[acted](ctx, w, t, "/api/v1/audit_events?action="+action+"&")
		if err != nil {
			return err
		}
		events = append(events, some...)
	}
	connectors, err := everything[struct{ Slug string }](ctx, w, t, "/api/v1/connectors?")
	if err != nil {
		return err
	}
	w.compareActs(t, events, connectors)
	return nil
}

// acted is an act in the audit log.
type acted struct {
	Action, Target string
	Actor          struct{ Type, Name string }
	Detail         struct{ Via string }
}

func (w *world) compareActs(t *tenant, events []acted, connectors []struct{ Slug string }) {
	times := map[string]int{}
	for _, e := range events {
		if !strings.HasPrefix(e.Target, "helped-") {
			continue
		}
		if times[e.Action+" "+e.Target]++; e.Actor.Type != "key" || e.Actor.Name != "assistant of "+t.mark || e.Detail.Via != "mcp" {
			w.tally.note("lost", fmt.Sprintf("%s of %s stands in the audit log as of %+v", e.Action, e.Target, e))
		}
	}
	for _, a := range w.acts.all {
		if a.tenant != t {
			continue
		}
		switch n := times[a.action+" "+a.target]; {
		case n > 1:
			w.tally.note("double", fmt.Sprintf("%s of %s was done %d times", a.action, a.target, n))
		case a.acked && n == 0:
			w.tally.note("lost", fmt.Sprintf("the audit log has no %s of %s", a.action, a.target))
		}
		if a.stays && !slices.ContainsFunc(connectors, func(c struct{ Slug string }) bool { return c.Slug == a.target }) {
			w.tally.note("lost", fmt.Sprintf("%s was made by an assistant, and is not there", a.target))
		}
	}
}
