package churn

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"
)

type jsonObject = map[string]any

type adminAction func(l *Load, ctx context.Context, s *slot) error

// actKind is a kind of action.
type actKind struct {
	name    string
	weight  int // relative frequency among the allowed ones
	allowed func(connectorState) bool
	run     adminAction
}

// actKinds are all actions. Other actions wait for the first sync and the first grants.
var actKinds = []actKind{
	{"create a connector", 1, func(c connectorState) bool { return !c.exists }, (*Load).createConnector},
	{"sync for the first time", 1, func(c connectorState) bool { return c.exists && c.enabled && len(c.tools) == 0 }, (*Load).syncLists},
	{"grant to all agents", 50, func(c connectorState) bool { return len(c.tools) > 0 && len(c.grants) == 0 }, (*Load).grantAll},
	{"enable", 50, func(c connectorState) bool { return c.exists && !c.enabled }, (*Load).toggleEnabled},
	{"accept a changed tool", 40, func(c connectorState) bool { return c.isUsed() && c.pendingTool() != "" }, (*Load).acceptTool},
	{"sync changed lists", 30, func(c connectorState) bool { return c.isUsed() && c.enabled }, (*Load).changeAndSync}, // disabled connectors are not synced
	{"grant to one agent", 20, connectorState.isUsed, (*Load).grantRandom},
	{"revoke", 15, connectorState.isUsed, (*Load).revokeGrant},
	{"disable", 10, func(c connectorState) bool { return c.isUsed() && c.enabled }, (*Load).toggleEnabled},
	{"rename", 10, connectorState.isUsed, (*Load).renameConnector},
	{"move to another origin", 7, connectorState.isUsed, (*Load).moveConnector},
	{"delete", 8, connectorState.isUsed, (*Load).deleteConnector},
}

// ActKinds are the keys of [Report.Acts].
func ActKinds() (kinds []string) {
	for _, k := range actKinds {
		kinds = append(kinds, k.name)
	}
	return kinds
}

func (l *Load) runAdmin(loadCtx context.Context, own []*slot) {
	ctx := context.WithoutCancel(loadCtx)
	for loadCtx.Err() == nil {
		n := rand.IntN(len(own))
		if s := own[n]; !l.runAction(ctx, l.chooseAction(s.currentState()), s) {
			own[n] = l.replaceSlot(ctx, s)
			pauseBriefly(ctx)
		}
	}
}

// runAction runs an action. ok is false if its outcome is not as expected.
func (l *Load) runAction(ctx context.Context, k actKind, s *slot) (ok bool) {
	start := time.Now()
	err := k.run(l, ctx, s)
	if err == nil {
		l.countReport(func(r *Report) { r.Acts[k.name]++ })
		return true
	}
	if !isOutage(err) || l.Outages.isHealthy(start) {
		l.recordFault(RefusedAct, "%s: %s: %v", s.name, k.name, err)
	}
	return false
}

// replaceSlot abandons a slot in an unknown state, and returns a new one.
func (l *Load) replaceSlot(ctx context.Context, s *slot) *slot {
	s.markUnknown()
	for _, slug := range []string{s.currentState().slug, fmt.Sprintf("%s%d", s.name, s.created-1)} {
		_, _, _ = l.sendAPI(ctx, http.MethodDelete, "/api/v1/connectors/"+slug, nil) // keeps lists short
	}
	return l.newSlot()
}

// chooseAction chooses an action that the connector's state allows. A kind that has not succeeded yet goes
// first.
func (l *Load) chooseAction(current connectorState) actKind {
	var allowed, untried []actKind
	l.mu.Lock()
	for _, k := range actKinds {
		if !k.allowed(current) {
			continue
		}
		allowed = append(allowed, k)
		if l.report.Acts[k.name] == 0 {
			untried = append(untried, k)
		}
	}
	l.mu.Unlock()
	if len(untried) > 0 {
		allowed = untried
	}
	sum := 0
	for _, k := range allowed {
		sum += k.weight
	}
	chosen, n := 0, rand.IntN(sum)
	for ; n >= allowed[chosen].weight; chosen++ {
		n -= allowed[chosen].weight
	}
	return allowed[chosen]
}

// sendAction is an action of one request, which leads to the next state.
func (l *Load) sendAction(ctx context.Context, s *slot, next connectorState, method, path string, body any) error {
	s.beginAction(next)
	if err := l.callAPI(ctx, method, path, body, nil); err != nil {
		return err
	}
	s.endAction()
	return nil
}

func (s *slot) nextSlug() string {
	s.created++
	return fmt.Sprintf("%s%d", s.name, s.created)
}

func (l *Load) createConnector(ctx context.Context, s *slot) error {
	next := connectorState{exists: true, enabled: true, slug: s.nextSlug(), grants: map[int]toolGrant{}}
	policy := "auto"
	if s.server.held {
		policy = "hold_all"
	}
	return l.sendAction(ctx, s, next, http.MethodPost, "/api/v1/connectors", jsonObject{
		"name": next.slug, "slug": next.slug, "url": s.server.currentURL(), "tool_changes": policy, "sync_interval_s": 0, "listen": "off", "max_definition_age_s": 0, "retry_attempts": 0,
	})
}

// changeAndSync changes the server's lists, and syncs them.
func (l *Load) changeAndSync(ctx context.Context, s *slot) error {
	s.server.changeLists()
	return l.syncLists(ctx, s)
}

// syncLists syncs the server's lists. A sync during an outage may leave the items as they were.
func (l *Load) syncLists(ctx context.Context, s *slot) error {
	before, versions := s.currentState(), s.server.currentVersions()
	next := before.clone()
	next.items, next.tools = []map[string]string{versions}, map[string]tool{}
	for name, version := range versions {
		t := before.tools[name]
		if t.current = version; len(before.tools) == 0 || !s.server.held {
			t.accepted = version
		}
		next.tools[name] = t
	}
	s.beginAction(next)
	start := time.Now()
	if err := l.callAPI(ctx, http.MethodPost, "/api/v1/connectors/"+next.slug+"/sync_tools", nil, nil); err != nil {
		return err
	}
	if !l.Outages.isHealthy(start) {
		next.items = append(next.items, before.possibleItems()...)
		s.correctAction(next)
	}
	s.endAction()
	return nil
}

// acceptTool accepts the pending change of a tool.
func (l *Load) acceptTool(ctx context.Context, s *slot) error {
	next := s.currentState().clone()
	name := next.pendingTool()
	t := next.tools[name]
	t.accepted = t.current
	next.tools[name] = t
	return l.sendAction(ctx, s, next, http.MethodPost, "/api/v1/connectors/"+next.slug+"/tools/"+name+"/accept", nil)
}

func (l *Load) grantAll(ctx context.Context, s *slot) error {
	for _, a := range l.agents {
		next := s.currentState().clone()
		next.grants = next.grantTools(a.number, nil)
		if err := l.setGrant(ctx, s, next, a, "all"); err != nil {
			return err
		}
	}
	return nil
}

// grantRandom grants all tools or one to an agent.
func (l *Load) grantRandom(ctx context.Context, s *slot) error {
	a, next := l.agents[rand.IntN(len(l.agents))], s.currentState().clone()
	if rand.IntN(2) == 0 {
		next.grants = next.grantTools(a.number, nil)
		return l.setGrant(ctx, s, next, a, "all")
	}
	next.grants = next.grantTools(a.number, map[string]bool{base: true})
	return l.setGrant(ctx, s, next, a, []string{base})
}

func (l *Load) setGrant(ctx context.Context, s *slot, next connectorState, a *loadAgent, tools any) error {
	return l.sendAction(ctx, s, next, http.MethodPut, "/api/v1/agents/"+a.slug+"/connectors/"+next.slug, jsonObject{"tools": tools})
}

func (l *Load) revokeGrant(ctx context.Context, s *slot) error {
	next := s.currentState().clone()
	for number := range next.grants {
		delete(next.grants, number)
		return l.sendAction(ctx, s, next, http.MethodDelete, "/api/v1/agents/"+l.agents[number].slug+"/connectors/"+next.slug, nil)
	}
	return nil
}

func (l *Load) patchConnector(ctx context.Context, s *slot, next connectorState, body jsonObject) error {
	return l.sendAction(ctx, s, next, http.MethodPatch, "/api/v1/connectors/"+s.currentState().slug, body)
}

func (l *Load) toggleEnabled(ctx context.Context, s *slot) error {
	next := s.currentState().clone()
	next.enabled = !next.enabled
	return l.patchConnector(ctx, s, next, jsonObject{"enabled": next.enabled})
}

func (l *Load) renameConnector(ctx context.Context, s *slot) error {
	next := s.currentState().clone()
	next.slug = s.nextSlug()
	return l.patchConnector(ctx, s, next, jsonObject{"slug": next.slug, "name": next.slug})
}

// moveConnector moves the connector to another origin with the same tools.
func (l *Load) moveConnector(ctx context.Context, s *slot) error {
	s.server.switchOrigin()
	return l.patchConnector(ctx, s, s.currentState().clone(), jsonObject{"url": s.server.currentURL(), "confirm": true})
}

func (l *Load) deleteConnector(ctx context.Context, s *slot) error {
	return l.sendAction(ctx, s, connectorState{grants: map[int]toolGrant{}}, http.MethodDelete, "/api/v1/connectors/"+s.currentState().slug, nil)
}

// apiError is an error response of the JSON API.
type apiError struct {
	status int
	text   string
}

// Error is the status and the text.
func (r *apiError) Error() string { return fmt.Sprintf("%d %s", r.status, r.text) }

// callAPI is a request that must succeed. A 429 is retried.
func (l *Load) callAPI(ctx context.Context, method, path string, body, into any) error {
	var sent []byte
	if body != nil {
		var err error
		if sent, err = json.Marshal(body); err != nil {
			return err
		}
	}
	for {
		start := time.Now()
		status, text, err := l.sendAPI(ctx, method, path, sent)
		switch {
		case err != nil:
			return fmt.Errorf("%s %s: %w", method, path, err)
		case status == http.StatusTooManyRequests:
			pauseBriefly(ctx)
			continue
		case status == http.StatusInternalServerError, status > http.StatusInternalServerError && l.Outages.isHealthy(start):
			l.recordFault(Internal, "%s %s: %d %.300s", method, path, status, text)
			fallthrough
		case status >= http.StatusBadRequest:
			return fmt.Errorf("%s %s: %w", method, path, &apiError{status, fmt.Sprintf("%.300s", text)})
		case into != nil:
			return json.Unmarshal(text, into)
		}
		return nil
	}
}

// pauseBriefly waits 100 ms.
func pauseBriefly(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(100 * time.Millisecond):
	}
}

func (l *Load) sendAPI(ctx context.Context, method, path string, body []byte) (int, []byte, error) {
	return Request{Method: method, URL: l.Base + path, Key: l.Key, Body: bytes.NewReader(body)}.Send(ctx, l.client)
}
