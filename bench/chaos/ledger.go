package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"
)

// written is an agent that somebody wrote, and what may be there of it: what was acknowledged, and what was not but may have happened.
type written struct {
	tenant  *tenant
	slug    string
	created bool     // acknowledged
	about   []string // one of these is its description
	gone    bool     // removing it was acknowledged
	maybe   bool     // removing it was tried
}

// writes are all of them.
type writes struct {
	mu    sync.Mutex // guards what follows
	all   []*written
	acked int
}

func (w *world) acknowledged() {
	w.writes.mu.Lock()
	defer w.writes.mu.Unlock()
	w.writes.acked++
}

type create func(ctx context.Context, t *tenant, slug string) (status int, text []byte, err error)

func (w *world) createByAPI(ctx context.Context, t *tenant, slug string) (int, []byte, error) {
	return w.api(ctx, t, http.MethodPost, "/api/v1/agents", map[string]any{"name": t.mark + " " + slug, "slug": slug, "description": "0"})
}

func (w *world) createByForm(ctx context.Context, t *tenant, slug string) (int, []byte, error) {
	status, text, to, err := w.browse(ctx, t, http.MethodPost, "/agents", url.Values{"name": {t.mark + " " + slug}, "slug": {slug}, "description": {"0"}, "approval": {"always_ask"}})
	if err == nil && status == http.StatusSeeOther && to != "/agents/"+slug {
		w.tally.note("signed out", "a form led to "+to)
		status = http.StatusUnauthorized
	}
	return status, text, err
}

// writer makes agents, changes each, and removes most of them.
func (w *world) writer(t *tenant, prefix string, do create) func(context.Context) {
	door := "API, writes"
	if prefix[0] == 'f' {
		door = "dashboard, forms"
	}
	n := 0
	return func(ctx context.Context) {
		n++
		one := &written{tenant: t, slug: fmt.Sprintf("%s-%d", prefix, n), about: []string{"0"}}
		w.writes.mu.Lock()
		w.writes.all = append(w.writes.all, one)
		w.writes.mu.Unlock()
		status, text, err := do(ctx, t, one.slug)
		w.met(t, door, status, text, err)
		if err != nil || status >= 400 {
			return
		}
		one.created = true
		w.acknowledged()
		one.about = append(one.about, "1")
		status, text, err = w.api(ctx, t, http.MethodPatch, "/api/v1/agents/"+one.slug, map[string]any{"description": "1"})
		w.met(t, "API, writes", status, text, err)
		if err == nil && status < 300 {
			one.about = []string{"1"}
			w.acknowledged()
		}
		if n%4 == 0 {
			return
		}
		one.maybe = true
		status, text, err = w.api(ctx, t, http.MethodDelete, "/api/v1/agents/"+one.slug, nil)
		w.met(t, "API, writes", status, text, err)
		if err == nil && status < 300 {
			one.gone = true
			w.acknowledged()
		}
	}
}

// readBack holds everything that was acknowledged against what is there.
func (w *world) readBack(ctx context.Context, r *report) error {
	for _, t := range w.tenants {
		agents, err := everything[struct{ Slug, Description string }](ctx, w, t, "/api/v1/agents?")
		if err != nil {
			return err
		}
		events, err := everything[struct{ Action, Target string }](ctx, w, t, "/api/v1/audit_events?action=agent&")
		if err != nil {
			return err
		}
		there, recorded := map[string]string{}, map[string]bool{}
		for _, a := range agents {
			there[a.Slug] = a.Description
		}
		for _, e := range events {
			recorded[e.Action+" "+e.Target] = true
		}
		w.compare(t, there, recorded)
		is, err := w.chainsAfterwards(ctx, t)
		if err != nil {
			return err
		}
		r.compareChains(t, is, w.calls.of(t))
		r.unsynced += w.unsynced(ctx, t)
		if err := errors.Join(w.programsAfterwards(ctx, t), w.actsAfterwards(ctx, t), w.arrivalsAfterwards(ctx, t)); err != nil {
			return err
		}
	}
	came := w.up.counts()
	for n, times := range came {
		if times > 1 {
			w.tally.note("double", fmt.Sprintf("call %d came %d times", n, times))
		}
	}
	for n := range w.calls.answered {
		if came[n] == 0 {
			w.tally.note("another answer", fmt.Sprintf("call %d was answered and never came", n))
		}
	}
	return nil
}

func (w *world) compare(t *tenant, there map[string]string, recorded map[string]bool) {
	for _, one := range w.writes.all {
		if one.tenant != t {
			continue
		}
		about, is := there[one.slug]
		lost := func(what string) { w.tally.note("lost", fmt.Sprintf("%s of %s: %s", one.slug, t.slug, what)) }
		switch {
		case one.gone && is:
			lost("it was removed, and is there")
		case one.created && !is && !one.maybe:
			lost("it was made, and is not there")
		case one.created && is && !slices.Contains(one.about, about):
			lost(fmt.Sprintf("its description is %q, not one of %q", about, one.about))
		}
		for action, acked := range map[string]bool{"agent.create": one.created, "agent.update": len(one.about) == 1 && one.about[0] == "1", "agent.delete": one.gone} {
			if acked && !recorded[action+" "+one.slug] {
				lost("the audit log has no " + action)
			}
		}
	}
}

// unsynced is how many of the tenant's connectors have no successful sync afterwards, or one that never ends.
func (w *world) unsynced(ctx context.Context, t *tenant) (left int) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	for _, connector := range calledConnectors {
		for {
			err := w.make(ctx, t, "/api/v1/connectors/"+connector+"/sync_tools", nil, nil)
			if err == nil {
				break
			}
			w.reconnects(ctx, t)
			select {
			case <-ctx.Done():
				w.tally.note("unsynced", fmt.Sprintf("%s of %s: %v", connector, t.slug, err))
				left++
			case <-time.After(500 * time.Millisecond):
				continue
			}
			break
		}
	}
	return left
}

// everything is a whole list.
func everything[T any](ctx context.Context, w *world, t *tenant, path string) (all []T, err error) {
	for cursor := ""; ; {
		var page struct {
			Items []T
			Next  *string `json:"next_cursor"`
		}
		status, text, err := w.api(ctx, t, http.MethodGet, path+"limit=200&cursor="+url.QueryEscape(cursor), nil)
		if err != nil || status != http.StatusOK {
			return nil, errors.Join(err, fmt.Errorf("%s: %d %.300s", path, status, text))
		}
		w.look(t, "API, reads", text)
		if err := json.Unmarshal(text, &page); err != nil {
			return nil, err
		}
		all = append(all, page.Items...)
		if page.Next == nil {
			return all, nil
		}
		cursor = *page.Next
	}
}
