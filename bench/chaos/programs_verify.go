package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"sync"
)

// verifyPrograms compares programs with the server: active ones still work, ended ones do not, and the audit
// log agrees.
func (w *world) verifyPrograms(ctx context.Context, t *tenant) error {
	type event struct {
		Action string
		Detail struct {
			Client string `json:"client_id"`
			Reason string
		}
	}
	events, err := listAll[event](ctx, w, t, "/api/v1/audit_events?action=agent_client&")
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
	var workers sync.WaitGroup
	next := make(chan *oauthProgram)
	for range 8 {
		workers.Go(func() {
			for p := range next {
				w.compareProgram(p, allowed[p.id], ended[p.id])
				w.verifyProgram(ctx, p)
			}
		})
	}
	for _, p := range w.programs.all {
		if p.tenant == t {
			next <- p
		}
	}
	close(next)
	workers.Wait()
	return nil
}

// compareProgram compares a program's state with its audit events.
func (w *world) compareProgram(p *oauthProgram, allowed int, ended []string) {
	switch {
	case allowed > 1, p.allowed && allowed != 1:
		w.tally.recordProblem("lost", fmt.Sprintf("the audit log has %d times that a person let %s in", allowed, p.id))
	case p.state == programActive && len(ended) > 0 && p.firstShown.IsZero(): // else the last response was lost, and the token may be too late
		w.tally.recordProblem("ended", fmt.Sprintf("a person let %s in, and nobody ended it: %q", p.id, ended))
	case (p.state == programSignedOut || p.state == programRevoked) && len(ended) != 1:
		w.tally.recordProblem("lost", fmt.Sprintf("the audit log has %q of a program whose access ended once", ended))
	}
}

// verifyProgram tries to refresh an active or ended program.
func (w *world) verifyProgram(ctx context.Context, p *oauthProgram) {
	switch p.state {
	case programActive:
		before := p.refreshes
		if w.refreshToken(ctx, p, false); p.refreshes > before {
			w.callAsProgram(ctx, p)
		} else if p.state != programTooLate {
			w.tally.recordProblem("ended", fmt.Sprintf("%s gets no token any more, though all is well again", p.id))
		}
	case programSignedOut, programRevoked:
		status, reply, err := w.postForm(ctx, p.tenant, "/oauth/token", "", refreshForm(p, p.refresh[len(p.refresh)-1]))
		if err != nil || status != http.StatusBadRequest || reply.Error != "invalid_grant" {
			w.tally.recordProblem("lost", fmt.Sprintf("a program whose access ended gets %d %s, %v", status, reply.Error, err))
		}
		if _, reply, _ = w.postForm(ctx, p.tenant, "/oauth/introspect", p.tenant.key, url.Values{"token": {p.access}}); reply.Active {
			w.tally.recordProblem("lost", "an access token of a program whose access ended is good")
		}
	case programUnknown, programTooLate:
	}
}

func (p *programLog) countState(f programState) (n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, program := range p.all {
		if program.state == f && program.allowed {
			n++
		}
	}
	return n
}
