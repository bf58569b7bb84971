package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"patchbay/bench/churn"
)

func TestReport_FailsOnEachProblem(t *testing.T) {
	t.Parallel()
	good := func() *runReport {
		w := &world{tally: newResponseTally(), tenants: []*tenant{{slug: "a", mark: "markA", key: "key-of-a"}, {slug: "b", mark: "markB"}}}
		w.writes.acked, w.calls.answered = 1, map[int64]*tenant{1: w.tenants[0]}
		w.up = newMCPServers(w)
		r := &runReport{world: w, ready: true}
		for _, t := range w.tenants {
			r.compareChains(t, chainCheck{logOK: true, outcomesOK: true, links: 1, calls: 1, recorded: 1}, w.calls.answeredFor(t))
		}
		return r
	}
	byAssistant := auditedAction{Action: "connector.create", Target: "helped-1"}
	byAssistant.Actor.Type, byAssistant.Actor.Name, byAssistant.Detail.Via = "key", "assistant of markA", "mcp"
	if err := good().writeTables(&bytes.Buffer{}); err != nil {
		t.Fatalf("a report without a fault is judged %v", err)
	}
	for name, spoil := range map[string]func(*runReport){
		"a secret": func(r *runReport) { r.inspectText(r.tenants[0], "a page", []byte("x"+plantedPrefix+"y")) },
		"a key":    func(r *runReport) { r.inspectText(r.tenants[0], "a page", []byte("key-of-a")) },
		"a secret in hex": func(r *runReport) {
			r.searchDecoded("a file", []byte(`\x00`+strings.Repeat("00", 9)+"6368616f732d706c616e7465642d41"), nil)
		},
		"a secret in base64": func(r *runReport) {
			r.searchDecoded("a file", []byte(`"Y2hhb3MtcGxhbnRlZC1hYmNkZWZnaGlqa2xtbm9w"`), nil)
		},
		"a token that was issued": func(r *runReport) {
			r.searchDecoded("a log", []byte("access-ABCDEFGHIJKLMNOPQRSTUVWXYZ"), map[string]bool{"ABCDEFGHIJKLMNOPQRSTUVWXYZ": true})
		},
		"a token that a program was given": func(r *runReport) {
			r.programs.issued = map[string]bool{strings.Repeat("a2", 26): true}
			r.searchDecoded("a log", []byte("x_b"+strings.Repeat("a2", 26)+"_"), nil)
		},
		"another tenant's mark":       func(r *runReport) { r.inspectText(r.tenants[0], "a page", []byte("<b>markB</b>")) },
		"a lie":                       func(r *runReport) { r.inspectText(r.tenants[0], "a result", []byte(wrongAnswer)) },
		"an error of ours":            func(r *runReport) { r.length = time.Minute; r.addResponse(r.tenants[0], "a page", 500, nil, nil) },
		"a refusal":                   func(r *runReport) { r.addResponse(r.tenants[0], "a page", 404, nil, nil) },
		"a session that is forgotten": func(r *runReport) { r.isForgotten(r.tenants[0], 404, nil, nil) },
		"another's answer": func(r *runReport) {
			r.recordCall(r.tenants[0], "x", 7, 200, []byte(`{"id":7,"result":{"content":[{"text":"markA n=8."}]}}`), nil)
		},
		"a chain that is broken":             func(r *runReport) { r.chains-- },
		"a chain of outcomes that is broken": func(r *runReport) { r.endChains-- },
		"an end of a call that is not on record": func(r *runReport) {
			r.compareChains(r.tenants[0], chainCheck{links: 1, calls: 1, recorded: 2}, 0)
		},
		"a call that never ends": func(r *runReport) { r.compareChains(r.tenants[0], chainCheck{links: 1, calls: 1, recorded: -1}, 0) },
		"a call that was answered and is in no history": func(r *runReport) {
			r.compareChains(r.tenants[0], chainCheck{links: 1, calls: 1, recorded: 1}, 2)
		},
		"a process that does not come":  func(r *runReport) { r.ready = false },
		"a process that ends by itself": func(r *runReport) { r.replicas = append(r.replicas, &replica{crashes: 1}) },
		"a call that stays open":        func(r *runReport) { r.open++ },
		"a session that stays":          func(r *runReport) { r.connections++ },
		"a connector without a sync":    func(r *runReport) { r.unsynced++ },
		"goroutines":                    func(r *runReport) { r.after = maxExtraGoroutines + 1 },
		"a wrong list":                  func(r *runReport) { r.churned.Wrong = map[string]int{churn.WrongList: 1} },
		"a failed call":                 func(r *runReport) { r.churned.Wrong = map[string]int{churn.FailedCall: 1} },
		"a lost request":                func(r *runReport) { r.churned.Wrong = map[string]int{churn.LostRequest: 1} },
		"an act that is refused":        func(r *runReport) { r.churned.Wrong = map[string]int{churn.RefusedAct: 1} },
		"an internal error of an act":   func(r *runReport) { r.churned.Wrong = map[string]int{churn.Internal: 1} },
		"too few acts of a kind":        func(r *runReport) { r.churned.Wrong = map[string]int{churn.TooFew: 1} },
		"a write that is gone": func(r *runReport) {
			r.writes.all = []*agentWrite{{tenant: r.tenants[0], slug: "x", created: true, descriptions: []string{"0"}}}
			r.compareWrites(r.tenants[0], nil, map[string]bool{"agent.create x": true})
		},
		"a write that nobody recorded": func(r *runReport) {
			r.writes.all = []*agentWrite{{tenant: r.tenants[0], slug: "x", created: true, descriptions: []string{"0"}}}
			r.compareWrites(r.tenants[0], map[string]string{"x": "0"}, nil)
		},
		"a removal that was none": func(r *runReport) {
			r.writes.all = []*agentWrite{{tenant: r.tenants[0], slug: "x", created: true, descriptions: []string{"0"}, deleted: true, mayBeDeleted: true}}
			r.compareWrites(r.tenants[0], map[string]string{"x": "0"}, map[string]bool{"agent.create x": true, "agent.delete x": true})
		},
		"a refresh token that ends though its answer was lost just now": func(r *runReport) {
			r.applyRefresh(&oauthProgram{refresh: []string{"x"}, firstShown: time.Now()}, refreshReply{with: "x", status: 400, oauthReply: oauthReply{Error: "invalid_grant"}}, true)
		},
		"an end of a program that nobody ended": func(r *runReport) {
			r.compareProgram(&oauthProgram{allowed: true, state: programActive}, 1, []string{"stolen"})
		},
		"a yes of a person that nobody recorded":       func(r *runReport) { r.compareProgram(&oauthProgram{allowed: true}, 0, nil) },
		"a sign-out of a program that came to nothing": func(r *runReport) { r.compareProgram(&oauthProgram{allowed: true, state: programSignedOut}, 1, nil) },
		"an assistant's act that was done twice": func(r *runReport) {
			r.addAction(r.tenants[0], "connector.create", "helped-1")
			r.compareActions(r.tenants[0], []auditedAction{byAssistant, byAssistant}, nil)
		},
		"an assistant's act that is lost": func(r *runReport) {
			r.acknowledgeAction(r.addAction(r.tenants[0], "connector.create", "helped-1"))
			r.compareActions(r.tenants[0], nil, nil)
		},
		"an assistant's act of somebody else's": func(r *runReport) {
			e := byAssistant
			e.Actor.Name = "somebody"
			r.compareActions(r.tenants[0], []auditedAction{e}, nil)
		},
		"an assistant's connector that is gone": func(r *runReport) {
			r.addAction(r.tenants[0], "connector.create", "helped-1").kept = true
			r.compareActions(r.tenants[0], []auditedAction{byAssistant}, nil)
		},
		"a sign-in that nobody recorded": func(r *runReport) {
			r.arrivals.all = []*signIn{{tenant: r.tenants[0], email: "p@a.example", acked: 1, tries: 1}}
			r.compareSignIns(r.tenants[0], nil, map[string]int{"p@a.example": 1})
		},
		"a sign-in that was done twice": func(r *runReport) {
			r.arrivals.all = []*signIn{{tenant: r.tenants[0], email: "p@a.example", acked: 1, tries: 1}}
			r.compareSignIns(r.tenants[0], map[string]int{"p@a.example": 2}, map[string]int{"p@a.example": 1})
		},
		"a member of another organisation": func(r *runReport) { r.compareSignIns(r.tenants[0], nil, map[string]int{"p@b.example": 1}) },
		"a refusal that says nothing": func(r *runReport) {
			r.recordSignIn(r.tenants[0], 403, 303, []byte("no"), nil, func() bool { return false })
		},
		"a refusal though all is well": func(r *runReport) {
			r.recordSignIn(r.tenants[0], 403, 303, []byte(`<div class="form-problem" role="alert">`), nil, func() bool { return true })
		},
		"a change that was forgotten": func(r *runReport) {
			r.writes.all = []*agentWrite{{tenant: r.tenants[0], slug: "x", created: true, descriptions: []string{"1"}}}
			r.compareWrites(r.tenants[0], map[string]string{"x": "0"}, map[string]bool{"agent.create x": true, "agent.update x": true})
		},
	} {
		r := good()
		spoil(r)
		if r.writeTables(&bytes.Buffer{}) == nil {
			t.Errorf("%s passes", name)
		}
	}
}
