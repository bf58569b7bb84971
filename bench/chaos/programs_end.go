package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"sync"
)

// programsAfterwards holds what was acknowledged of programs that signed in against what is there: who was let in stays in, who ended has
// nothing, and the audit log tells of each just that.
func (w *world) programsAfterwards(ctx context.Context, t *tenant) error {
	type event struct {
		Action string
		Detail struct {
			Client string `json:"client_id"`
			Reason string
		}
	}
	events, err := everything[event](ctx, w, t, "/api/v1/audit_events?action=agent_client&")
	if err != nil {
		return err
	}
	allowed, ended := map[string]int{}, map[string][]string{}
	for _, e := range events {
		switch e.Action {
		case "agent_client.allow":
			allowed[e.Detail.Client]++
		case "agent_client.end":
			ended[e.Detail.Client] = append(ended[e.Detail.Client], e.Detail.Reason)
		}
	}
	var work sync.WaitGroup
	next := make(chan *program)
	for range 8 {
		work.Go(func() {
			for p := range next {
				w.compareProgram(p, allowed[p.id], ended[p.id])
				w.programAfterwards(ctx, p)
			}
		})
	}
	for _, p := range w.programs.all {
		if p.tenant == t {
			next <- p
		}
	}
	close(next)
	work.Wait()
	return nil
}

// compareProgram holds a program's fate against what the audit log has of it: how often it was let in, and why its access ended.
func (w *world) compareProgram(p *program, allowed int, ended []string) {
	switch {
	case allowed > 1, p.allowed && allowed != 1:
		w.tally.note("lost", fmt.Sprintf("the audit log has %d times that a person let %s in", allowed, p.id))
	case p.fate == lives && len(ended) > 0 && p.asked.IsZero(): // else its last answer was lost, and it may be late
		w.tally.note("ended", fmt.Sprintf("a person let %s in, and nobody ended it: %q", p.id, ended))
	case (p.fate == left || p.fate == caught) && len(ended) != 1:
		w.tally.note("lost", fmt.Sprintf("the audit log has %q of a program whose access ended once", ended))
	}
}

// programAfterwards has a program that lives renew its token and work, and one whose access ended try.
func (w *world) programAfterwards(ctx context.Context, p *program) {
	switch p.fate {
	case lives:
		before := p.renewed
		if w.renews(ctx, p, false); p.renewed > before {
			w.callsAs(ctx, p)
		} else if p.fate != late {
			w.tally.note("ended", fmt.Sprintf("%s gets no token any more, though all is well again", p.id))
		}
	case left, caught:
		status, is, err := w.oauth(ctx, p.tenant, "/oauth/token", "", refreshes(p, p.refresh[len(p.refresh)-1]))
		if err != nil || status != http.StatusBadRequest || is.Error != "invalid_grant" {
			w.tally.note("lost", fmt.Sprintf("a program whose access ended gets %d %s, %v", status, is.Error, err))
		}
		if _, is, _ = w.oauth(ctx, p.tenant, "/oauth/introspect", p.tenant.key, url.Values{"token": {p.access}}); is.Active {
			w.tally.note("lost", "an access token of a program whose access ended is good")
		}
	case unknown, late:
	}
}

// count is how many have met a fate.
func (p *programs) count(f fate) (n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, one := range p.all {
		if one.fate == f && one.allowed {
			n++
		}
	}
	return n
}
