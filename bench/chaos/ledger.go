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

// agentWrite is an agent and its writes: acknowledged, or possibly done.
type agentWrite struct {
	tenant       *tenant
	slug         string
	created      bool     // acknowledged
	descriptions []string // possible descriptions
	deleted      bool     // acknowledged
	mayBeDeleted bool     // requested
}

type writeLog struct {
	mu    sync.Mutex // guards the fields below
	all   []*agentWrite
	acked int
}

func (w *world) countAcknowledged() {
	w.writes.mu.Lock()
	defer w.writes.mu.Unlock()
	w.writes.acked++
}

type createFunc func(ctx context.Context, t *tenant, slug string) (status int, text []byte, err error)

func (w *world) createByAPI(ctx context.Context, t *tenant, slug string) (int, []byte, error) {
	return w.requestAPI(ctx, t, http.MethodPost, "/api/v1/agents", map[string]any{"name": t.mark + " " + slug, "slug": slug, "description": "0"})
}

func (w *world) createByForm(ctx context.Context, t *tenant, slug string) (int, []byte, error) {
	status, text, location, err := w.browserRequest(ctx, t, http.MethodPost, "/agents", url.Values{"name": {t.mark + " " + slug}, "slug": {slug}, "description": {"0"}, "approval": {"always_ask"}})
	if err == nil && status == http.StatusSeeOther && location != "/agents/"+slug {
		w.tally.recordProblem("signed out", "a form led to "+location)
		status = http.StatusUnauthorized
	}
	return status, text, err
}

// writeLoop creates agents, changes them, and deletes most of them.
func (w *world) writeLoop(t *tenant, prefix string, do createFunc) func(context.Context) {
	door := "API, writes"
	if prefix[0] == 'f' {
		door = "dashboard, forms"
	}
	n := 0
	return func(ctx context.Context) {
		n++
		write := &agentWrite{tenant: t, slug: fmt.Sprintf("%s-%d", prefix, n), descriptions: []string{"0"}}
		w.writes.mu.Lock()
		w.writes.all = append(w.writes.all, write)
		w.writes.mu.Unlock()
		status, text, err := do(ctx, t, write.slug)
		w.addResponse(t, door, status, text, err)
		if err != nil || status >= 400 {
			return
		}
		write.created = true
		w.countAcknowledged()
		write.descriptions = append(write.descriptions, "1")
		status, text, err = w.requestAPI(ctx, t, http.MethodPatch, "/api/v1/agents/"+write.slug, map[string]any{"description": "1"})
		w.addResponse(t, "API, writes", status, text, err)
		if err == nil && status < 300 {
			write.descriptions = []string{"1"}
			w.countAcknowledged()
		}
		if n%4 == 0 {
			return
		}
		write.mayBeDeleted = true
		status, text, err = w.requestAPI(ctx, t, http.MethodDelete, "/api/v1/agents/"+write.slug, nil)
		w.addResponse(t, "API, writes", status, text, err)
		if err == nil && status < 300 {
			write.deleted = true
			w.countAcknowledged()
		}
	}
}

// verifyAll compares everything that was acknowledged with what is stored.
func (w *world) verifyAll(ctx context.Context, r *runReport) error {
	for _, t := range w.tenants {
		agents, err := listAll[struct{ Slug, Description string }](ctx, w, t, "/api/v1/agents?")
		if err != nil {
			return err
		}
		events, err := listAll[struct{ Action, Target string }](ctx, w, t, "/api/v1/audit_events?action=agent&")
		if err != nil {
			return err
		}
		stored, recorded := map[string]string{}, map[string]bool{}
		for _, a := range agents {
			stored[a.Slug] = a.Description
		}
		for _, e := range events {
			recorded[e.Action+" "+e.Target] = true
		}
		w.compareWrites(t, stored, recorded)
		check, err := w.verifyChains(ctx, t)
		if err != nil {
			return err
		}
		r.compareChains(t, check, w.calls.answeredFor(t))
		r.unsynced += w.countUnsynced(ctx, t)
		if err := errors.Join(w.verifyPrograms(ctx, t), w.verifyActions(ctx, t), w.verifySignIns(ctx, t)); err != nil {
			return err
		}
	}
	received := w.up.callCounts()
	for n, times := range received {
		if times > 1 {
			w.tally.recordProblem("double", fmt.Sprintf("call %d came %d times", n, times))
		}
	}
	for n := range w.calls.answered {
		if received[n] == 0 {
			w.tally.recordProblem("another answer", fmt.Sprintf("call %d was answered and never came", n))
		}
	}
	return nil
}

func (w *world) compareWrites(t *tenant, stored map[string]string, recorded map[string]bool) {
	for _, write := range w.writes.all {
		if write.tenant != t {
			continue
		}
		about, exists := stored[write.slug]
		reportLost := func(what string) {
			w.tally.recordProblem("lost", fmt.Sprintf("%s of %s: %s", write.slug, t.slug, what))
		}
		switch {
		case write.deleted && exists:
			reportLost("it was removed, and is there")
		case write.created && !exists && !write.mayBeDeleted:
			reportLost("it was made, and is not there")
		case write.created && exists && !slices.Contains(write.descriptions, about):
			reportLost(fmt.Sprintf("its description is %q, not one of %q", about, write.descriptions))
		}
		for action, acked := range map[string]bool{"agent.create": write.created, "agent.update": len(write.descriptions) == 1 && write.descriptions[0] == "1", "agent.delete": write.deleted} {
			if acked && !recorded[action+" "+write.slug] {
				reportLost("the audit log has no " + action)
			}
		}
	}
}

// countUnsynced is how many of the tenant's connectors have no successful sync afterwards, or one that never ends.
func (w *world) countUnsynced(ctx context.Context, t *tenant) (count int) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	for _, connector := range calledConnectors {
		for {
			err := w.postAPI(ctx, t, "/api/v1/connectors/"+connector+"/sync_tools", nil, nil)
			if err == nil {
				break
			}
			w.reconnectAccounts(ctx, t)
			select {
			case <-ctx.Done():
				w.tally.recordProblem("unsynced", fmt.Sprintf("%s of %s: %v", connector, t.slug, err))
				count++
			case <-time.After(500 * time.Millisecond):
				continue
			}
			break
		}
	}
	return count
}

func listAll[T any](ctx context.Context, w *world, t *tenant, path string) (all []T, err error) {
	for cursor := ""; ; {
		var page struct {
			Items []T
			Next  *string `json:"next_cursor"`
		}
		status, text, err := w.requestAPI(ctx, t, http.MethodGet, path+"limit=200&cursor="+url.QueryEscape(cursor), nil)
		if err != nil || status != http.StatusOK {
			return nil, errors.Join(err, fmt.Errorf("%s: %d %.300s", path, status, text))
		}
		w.inspectText(t, "API, reads", text)
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
