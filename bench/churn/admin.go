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

func (l *Load) runAdmin(loadCtx context.Context, own []*slot) {
	ctx := context.WithoutCancel(loadCtx)
	for loadCtx.Err() == nil {
		n := rand.IntN(len(own))
		s := own[n]
		if err := l.chooseAction(s)(l, ctx, s); err != nil {
			own[n] = l.replaceSlot(ctx, s)
			if !l.Outages || !isOutage(err) {
				l.recordFault(RefusedAct, "%s: %v", s.name, err)
			}
			pauseBriefly(ctx)
			continue
		}
		l.incrementCount(&l.report.Acts)
	}
}

// replaceSlot abandons a slot in an unknown state, and returns a new one.
func (l *Load) replaceSlot(ctx context.Context, s *slot) *slot {
	s.markUnknown()
	for _, slug := range []string{s.currentState().slug, fmt.Sprintf("%s%d", s.name, s.created-1)} {
		_, _, _ = l.sendAPI(ctx, http.MethodDelete, "/api/v1/connectors/"+slug, nil) // keeps lists short
	}
	return l.newSlot()
}

// chooseAction returns an action that the connector's state allows.
func (l *Load) chooseAction(s *slot) adminAction {
	current := s.currentState()
	if !current.exists {
		return (*Load).createConnector
	}
	if !current.enabled && rand.IntN(2) == 0 { // disabled connectors are not synced
		return (*Load).toggleEnabled
	}
	if len(current.tools) == 0 {
		return (*Load).syncTools
	}
	if len(current.grants) == 0 {
		return (*Load).grantAll
	}
	for name, t := range current.tools {
		if t.accepted != t.current && rand.IntN(3) == 0 {
			return func(l *Load, ctx context.Context, s *slot) error { return l.acceptTool(ctx, s, name) }
		}
	}
	switch n := rand.IntN(100); {
	case n < 30 && current.enabled:
		return (*Load).syncTools
	case n < 50:
		return (*Load).grantRandom
	case n < 65:
		return (*Load).revokeGrant
	case n < 75:
		return (*Load).toggleEnabled
	case n < 85:
		return (*Load).renameConnector
	case n < 92:
		return (*Load).moveConnector
	}
	return (*Load).deleteConnector
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
	next := connectorState{exists: true, enabled: true, slug: s.nextSlug(), grants: map[int]map[string]bool{}}
	policy := "auto"
	if s.server.held {
		policy = "hold_all"
	}
	return l.sendAction(ctx, s, next, http.MethodPost, "/api/v1/connectors", jsonObject{
		"name": next.slug, "slug": next.slug, "url": s.server.currentURL(), "tool_changes": policy, "sync_interval_s": 0, "listen": "off", "max_definition_age_s": 0, "retry_attempts": 0,
	})
}

// syncTools changes the server's tools, except the first time, and syncs.
func (l *Load) syncTools(ctx context.Context, s *slot) error {
	next := s.currentState().clone()
	first := len(next.tools) == 0
	if !first {
		s.server.changeTools()
	}
	found := map[string]tool{}
	for name, version := range s.server.toolVersions() {
		t := next.tools[name]
		if t.current = version; first || !s.server.held {
			t.accepted = version
		}
		found[name] = t
	}
	next.tools = found
	return l.sendAction(ctx, s, next, http.MethodPost, "/api/v1/connectors/"+next.slug+"/sync_tools", nil)
}

func (l *Load) acceptTool(ctx context.Context, s *slot, name string) error {
	next := s.currentState().clone()
	t := next.tools[name]
	t.accepted = t.current
	next.tools[name] = t
	return l.sendAction(ctx, s, next, http.MethodPost, "/api/v1/connectors/"+next.slug+"/tools/"+name+"/accept", nil)
}

func (l *Load) grantAll(ctx context.Context, s *slot) error {
	for _, a := range l.agents {
		next := s.currentState().clone()
		next.grants[a.number] = nil
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
		next.grants[a.number] = nil
		return l.setGrant(ctx, s, next, a, "all")
	}
	next.grants[a.number] = map[string]bool{base: true}
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
	return l.patchConnector(ctx, s, s.currentState().clone(), jsonObject{"url": s.server.currentURL()})
}

func (l *Load) deleteConnector(ctx context.Context, s *slot) error {
	return l.sendAction(ctx, s, connectorState{grants: map[int]map[string]bool{}}, http.MethodDelete, "/api/v1/connectors/"+s.currentState().slug, nil)
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
		status, text, err := l.sendAPI(ctx, method, path, sent)
		switch {
		case err != nil:
			return fmt.Errorf("%s %s: %w", method, path, err)
		case status == http.StatusTooManyRequests:
			pauseBriefly(ctx)
			continue
		case status == http.StatusInternalServerError, status > http.StatusInternalServerError && !l.Outages:
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
