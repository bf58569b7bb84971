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

type object = map[string]any

// act is something that an admin does to a connector.
type act func(l *Load, ctx context.Context, s *slot) error

// administrate does one act after the other, each to a connector that is the admin's own.
func (l *Load) administrate(work context.Context, own []*slot) {
	ctx := context.WithoutCancel(work)
	for work.Err() == nil {
		n := rand.IntN(len(own))
		s := own[n]
		if err := l.choose(s)(l, ctx, s); err != nil {
			own[n] = l.replace(ctx, s)
			if !l.Outages || !isOutage(err) {
				l.fault(RefusedAct, "%s: %v", s.name, err)
			}
			pause(ctx)
			continue
		}
		l.count(&l.report.Acts)
	}
}

// replace gives up a slot whose state is not known, and returns another one.
func (l *Load) replace(ctx context.Context, s *slot) *slot {
	s.lose()
	for _, slug := range []string{s.now().slug, fmt.Sprintf("%s%d", s.name, s.made-1)} {
		_, _, _ = l.ask(ctx, http.MethodDelete, "/api/v1/connectors/"+slug, nil) // so that lists do not grow
	}
	return l.newSlot()
}

// choose finds an act that a connector can undergo.
func (l *Load) choose(s *slot) act {
	now := s.now()
	if !now.exists {
		return (*Load).create
	}
	if !now.enabled && rand.IntN(2) == 0 { // what is disabled is not synced
		return (*Load).toggle
	}
	if len(now.tools) == 0 {
		return (*Load).sync
	}
	if len(now.grants) == 0 {
		return (*Load).grantAll
	}
	for name, t := range now.tools {
		if t.accepted != t.current && rand.IntN(3) == 0 {
			return func(l *Load, ctx context.Context, s *slot) error { return l.accept(ctx, s, name) }
		}
	}
	switch n := rand.IntN(100); {
	case n < 30 && now.enabled:
		return (*Load).sync
	case n < 50:
		return (*Load).grant
	case n < 65:
		return (*Load).revoke
	case n < 75:
		return (*Load).toggle
	case n < 85:
		return (*Load).rename
	case n < 92:
		return (*Load).move
	}
	return (*Load).remove
}

// does is an act by one request, which leads to a state.
func (l *Load) does(ctx context.Context, s *slot, to state, method, path string, body any) error {
	s.begin(to)
	if err := l.must(ctx, method, path, body, nil); err != nil {
		return err
	}
	s.end()
	return nil
}

func (s *slot) nextSlug() string {
	s.made++
	return fmt.Sprintf("%s%d", s.name, s.made)
}

func (l *Load) create(ctx context.Context, s *slot) error {
	to := state{exists: true, enabled: true, slug: s.nextSlug(), grants: map[int]map[string]bool{}}
	policy := "auto"
	if s.server.held {
		policy = "hold_all"
	}
	return l.does(ctx, s, to, http.MethodPost, "/api/v1/connectors", object{
		"name": to.slug, "slug": to.slug, "url": s.server.url(), "tool_changes": policy, "sync_interval_s": 0, "listen": "off", "max_definition_age_s": 0, "retry_attempts": 0,
	})
}

// sync has the server change its tools, where it has been synced before, and Patchbay read them.
func (l *Load) sync(ctx context.Context, s *slot) error {
	to := s.now().clone()
	first := len(to.tools) == 0
	if !first {
		s.server.change()
	}
	found := map[string]tool{}
	for name, version := range s.server.list() {
		t := to.tools[name]
		if t.current = version; first || !s.server.held {
			t.accepted = version
		}
		found[name] = t
	}
	to.tools = found
	return l.does(ctx, s, to, http.MethodPost, "/api/v1/connectors/"+to.slug+"/sync_tools", nil)
}

func (l *Load) accept(ctx context.Context, s *slot, name string) error {
	to := s.now().clone()
	t := to.tools[name]
	t.accepted = t.current
	to.tools[name] = t
	return l.does(ctx, s, to, http.MethodPost, "/api/v1/connectors/"+to.slug+"/tools/"+name+"/accept", nil)
}

// grantAll lets every agent use all tools, one after the other.
func (l *Load) grantAll(ctx context.Context, s *slot) error {
	for _, a := range l.agents {
		to := s.now().clone()
		to.grants[a.number] = nil
		if err := l.grants(ctx, s, to, a, "all"); err != nil {
			return err
		}
	}
	return nil
}

// grant lets an agent use all tools, or one.
func (l *Load) grant(ctx context.Context, s *slot) error {
	a, to := l.agents[rand.IntN(len(l.agents))], s.now().clone()
	if rand.IntN(2) == 0 {
		to.grants[a.number] = nil
		return l.grants(ctx, s, to, a, "all")
	}
	to.grants[a.number] = map[string]bool{base: true}
	return l.grants(ctx, s, to, a, []string{base})
}

func (l *Load) grants(ctx context.Context, s *slot, to state, a *agent, tools any) error {
	return l.does(ctx, s, to, http.MethodPut, "/api/v1/agents/"+a.slug+"/connectors/"+to.slug, object{"tools": tools})
}

func (l *Load) revoke(ctx context.Context, s *slot) error {
	to := s.now().clone()
	for number := range to.grants {
		delete(to.grants, number)
		return l.does(ctx, s, to, http.MethodDelete, "/api/v1/agents/"+l.agents[number].slug+"/connectors/"+to.slug, nil)
	}
	return nil
}

func (l *Load) patch(ctx context.Context, s *slot, to state, body object) error {
	return l.does(ctx, s, to, http.MethodPatch, "/api/v1/connectors/"+s.now().slug, body)
}

func (l *Load) toggle(ctx context.Context, s *slot) error {
	to := s.now().clone()
	to.enabled = !to.enabled
	return l.patch(ctx, s, to, object{"enabled": to.enabled})
}

func (l *Load) rename(ctx context.Context, s *slot) error {
	to := s.now().clone()
	to.slug = s.nextSlug()
	return l.patch(ctx, s, to, object{"slug": to.slug, "name": to.slug})
}

// move leads the connector to another origin, where the same tools are.
func (l *Load) move(ctx context.Context, s *slot) error {
	s.server.move()
	return l.patch(ctx, s, s.now().clone(), object{"url": s.server.url()})
}

func (l *Load) remove(ctx context.Context, s *slot) error {
	return l.does(ctx, s, state{grants: map[int]map[string]bool{}}, http.MethodDelete, "/api/v1/connectors/"+s.now().slug, nil)
}

// refusal is an answer of the JSON API that is not the one wished for.
type refusal struct {
	status int
	text   string
}

// Error shows the answer.
func (r *refusal) Error() string { return fmt.Sprintf("%d %s", r.status, r.text) }

// must is a request to the JSON API that has to succeed. One that is told to be slower is made again.
func (l *Load) must(ctx context.Context, method, path string, body, into any) error {
	var sent []byte
	if body != nil {
		var err error
		if sent, err = json.Marshal(body); err != nil {
			return err
		}
	}
	for {
		status, text, err := l.ask(ctx, method, path, sent)
		switch {
		case err != nil:
			return fmt.Errorf("%s %s: %w", method, path, err)
		case status == http.StatusTooManyRequests:
			pause(ctx)
			continue
		case status == http.StatusInternalServerError, status > http.StatusInternalServerError && !l.Outages:
			l.fault(Internal, "%s %s: %d %.300s", method, path, status, text)
			fallthrough
		case status >= http.StatusBadRequest:
			return fmt.Errorf("%s %s: %w", method, path, &refusal{status, fmt.Sprintf("%.300s", text)})
		case into != nil:
			return json.Unmarshal(text, into)
		}
		return nil
	}
}

// pause waits for a tenth of a second.
func pause(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(100 * time.Millisecond):
	}
}

func (l *Load) ask(ctx context.Context, method, path string, body []byte) (int, []byte, error) {
	return Request{Method: method, URL: l.Base + path, Key: l.Key, Body: bytes.NewReader(body)}.Send(ctx, l.client)
}
