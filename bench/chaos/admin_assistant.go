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

// adminAction is an action of an assistant: done at most once, and exactly once if acknowledged.
type adminAction struct {
	tenant *tenant
	action string // in the audit log
	target string
	acked  bool
	kept   bool // its connector was not deleted
}

type adminActions struct {
	mu  sync.Mutex // guards all
	all []*adminAction
}

func (w *world) addAction(t *tenant, action, target string) *adminAction {
	a := &adminAction{tenant: t, action: action, target: target}
	w.acts.mu.Lock()
	defer w.acts.mu.Unlock()
	w.acts.all = append(w.acts.all, a)
	return a
}

func (w *world) acknowledgeAction(a *adminAction) {
	a.acked = true
	w.countAcknowledged()
}

// assistantLoop reads, adds connectors, and grants tools with a person's consent.
func (w *world) assistantLoop(t *tenant, i int) func(context.Context) {
	n := 0
	return func(ctx context.Context) {
		n++
		w.callAdminTool(ctx, t, "list_connectors", map[string]any{}, nil)
		w.callAdminTool(ctx, t, "get_usage_stats", map[string]any{}, nil)
		slug := fmt.Sprintf("helped-%d-%d", i, n)
		added := w.addAction(t, "connector.create", slug)
		if w.callAdminTool(ctx, t, "add_connector", map[string]any{"name": t.mark + " " + slug, "slug": slug, "url": w.up.serverURL(t, "mcp")}, nil).done {
			w.acknowledgeAction(added)
			added.kept = true
			if n%4 > 0 {
				added.kept = false
				status, text, err := w.requestAPI(ctx, t, http.MethodDelete, "/api/v1/connectors/"+slug, nil)
				w.addResponse(t, "API, writes", status, text, err)
			}
		}
		status, text, err := w.requestAPI(ctx, t, http.MethodPost, "/api/v1/agents", map[string]any{"name": t.mark + " " + slug, "slug": slug})
		w.addResponse(t, "API, writes", status, text, err)
		if err == nil && status < 300 {
			w.grantTool(ctx, t, slug)
		}
	}
}

// grantTool grants a tool with consent. The answer may reach another process than the request.
func (w *world) grantTool(ctx context.Context, t *tenant, agent string) {
	granted := w.addAction(t, "agent_grant.set", agent+"/work")
	arguments := map[string]any{"agent": agent, "connector": "work", "tools": []string{"work"}}
	result := w.callAdminTool(ctx, t, "grant_tools", arguments, nil)
	if result.done {
		w.tally.recordProblem("unasked", "an assistant granted a tool, and no person was asked")
	}
	if result.state == "" {
		return
	}
	consent := map[string]any{"requestState": result.state, "inputResponses": map[string]any{"confirm": map[string]any{"action": "accept", "content": map[string]any{"agree": true}}}}
	if w.callAdminTool(ctx, t, "grant_tools", arguments, consent).done {
		w.acknowledgeAction(granted)
	}
}

// adminToolResult is the result of an admin tool.
type adminToolResult struct {
	done  bool
	state string // requestState: consent is required
}

// callAdminTool calls a tool, with extra params.
func (w *world) callAdminTool(ctx context.Context, t *tenant, name string, arguments, extra map[string]any) adminToolResult {
	start := time.Now()
	params := map[string]any{"name": name, "arguments": arguments, "_meta": map[string]any{
		"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientInfo": map[string]any{"name": "chaos", "version": "1"},
		"io.modelcontextprotocol/clientCapabilities": map[string]any{"elicitation": map[string]any{"form": map[string]any{}}},
	}}
	for key, value := range extra {
		params[key] = value
	}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
	if err != nil {
		return adminToolResult{}
	}
	status, text, err := w.sendMessage(ctx, "/mcp/admin", t.assistant, name, string(body))
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
		w.tally.recordProblem("unclear", fmt.Sprintf("%s: %.300s", assistantDoor, text))
	}
	switch {
	case err != nil || status != http.StatusOK:
		w.addResponse(t, assistantDoor, status, text, err)
	case m.Result == nil:
		w.inspectText(t, assistantDoor, text)
		w.tally.recordProblem("unclear", fmt.Sprintf("%s, %s: %s", assistantDoor, name, m.Error))
	case m.Result.IsError:
		reason := m.Result.Meta["patchbay/reason"]
		if reason.Code == "confirmation-expired" && !w.clocksAreRight(start) {
			w.tally.countOutcome(assistantDoor, "told that the question was open for too long, where the clock had jumped")
			return adminToolResult{}
		}
		w.addResponse(t, assistantDoor, max(reason.Status, http.StatusBadRequest), text, nil)
	default:
		w.addResponse(t, assistantDoor, status, text, nil)
		return adminToolResult{done: m.Result.Type != "input_required", state: m.Result.State}
	}
	return adminToolResult{}
}

// verifyActions compares the actions with the audit log (each once, by their key) and with what is stored.
func (w *world) verifyActions(ctx context.Context, t *tenant) error {
	var events []auditedAction
	for _, action := range []string{"connector.create", "agent_grant.set"} {
		page, err := listAll[auditedAction](ctx, w, t, "/api/v1/audit_events?action="+action+"&")
		if err != nil {
			return err
		}
		events = append(events, page...)
	}
	connectors, err := listAll[struct{ Slug string }](ctx, w, t, "/api/v1/connectors?")
	if err != nil {
		return err
	}
	w.compareActions(t, events, connectors)
	return nil
}

type auditedAction struct {
	Action, Target string
	Actor          struct{ Type, Name string }
	Detail         struct{ Via string }
}

func (w *world) compareActions(t *tenant, events []auditedAction, connectors []struct{ Slug string }) {
	times := map[string]int{}
	for _, e := range events {
		if !strings.HasPrefix(e.Target, "helped-") {
			continue
		}
		if times[e.Action+" "+e.Target]++; e.Actor.Type != "key" || e.Actor.Name != "assistant of "+t.mark || e.Detail.Via != "mcp" {
			w.tally.recordProblem("lost", fmt.Sprintf("%s of %s stands in the audit log as of %+v", e.Action, e.Target, e))
		}
	}
	for _, a := range w.acts.all {
		if a.tenant != t {
			continue
		}
		switch n := times[a.action+" "+a.target]; {
		case n > 1:
			w.tally.recordProblem("double", fmt.Sprintf("%s of %s was done %d times", a.action, a.target, n))
		case a.acked && n == 0:
			w.tally.recordProblem("lost", fmt.Sprintf("the audit log has no %s of %s", a.action, a.target))
		}
		if a.kept && !slices.ContainsFunc(connectors, func(c struct{ Slug string }) bool { return c.Slug == a.target }) {
			w.tally.recordProblem("lost", fmt.Sprintf("%s was made by an assistant, and is not there", a.target))
		}
	}
}
