package main

import (
	"bytes"
	"strings"
	"syscall"
	"testing"
	"time"

	"patchbay/bench/churn"
)

// memory is a directory in memory, where there is one with room: what PostgreSQL syncs to a disk takes most of its start.
func memory(t *testing.T) string {
	t.Helper()
	const parent, room = "/dev/shm", 2 << 30
	var stat syscall.Statfs_t
	if err := syscall.Statfs(parent, &stat); err != nil || stat.Bavail*uint64(stat.Bsize) < room { //nolint:gosec // never negative
		return ""
	}
	return parent
}

func TestNothingIsLostWhileEverythingGoesWrong(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts real processes")
	}
	var out bytes.Buffer
	if err := run(t.Context(), []string{"-home", memory(t), "-time", "10s", "-replicas", "2"}, &out); err != nil {
		t.Errorf("%v\n%s", err, out.String())
	}
	for _, row := range []string{"| acknowledged writes lost | 0 | 0 |", "| audit chains verified | 2 | 2 |", "| chains of calls' outcomes verified | 2 | 2 |", "| gateway, SSE |", "| gateway, with a session (2025-11-25) |", "| dashboard, forms |", "| authorization server, tokens |", "| an admin's assistant (/mcp/admin) |", "| single sign-on |",
		"| webhooks, received |"} {
		if !strings.Contains(out.String(), row) {
			t.Errorf("the tables have no %q:\n%s", row, out.String())
		}
	}
}

func TestClocksJumpAndNothingIsLost(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts real processes")
	}
	var out bytes.Buffer
	if err := run(t.Context(), []string{"-home", memory(t), "-time", "4s", "-replicas", "2", "-only", "clock"}, &out); err != nil {
		t.Errorf("%v\n%s", err, out.String())
	}
	for _, row := range []string{"| process 1's clock jumps an hour ahead | 1 |", "| all processes' clocks jump ten minutes back | 1 |", "| acknowledged writes lost | 0 | 0 |"} {
		if !strings.Contains(out.String(), row) {
			t.Errorf("the tables have no %q:\n%s", row, out.String())
		}
	}
}

func TestARunFailsWhereSomethingIsNotAsItMustBe(t *testing.T) {
	t.Parallel()
	good := func() *report {
		w := &world{tally: newTally(), tenants: []*tenant{{slug: "a", mark: "markA", key: "key-of-a"}, {slug: "b", mark: "markB"}}}
		w.writes.acked, w.calls.answered = 1, map[int64]*tenant{1: w.tenants[0]}
		w.up = newUpstream(w)
		r := &report{world: w, ready: true}
		for _, t := range w.tenants {
			r.compareChains(t, chains{log: true, ends: true, links: 1, calls: 1, kept: 1}, w.calls.of(t))
		}
		return r
	}
	byAssistant := acted{Action: "connector.create", Target: "helped-1"}
	byAssistant.Actor.Type, byAssistant.Actor.Name, byAssistant.Detail.Via = "key", "assistant of markA", "mcp"
	if err := good().judge(&bytes.Buffer{}); err != nil {
		t.Fatalf("a report without a fault is judged %v", err)
	}
	for what, spoil := range map[string]func(*report){
		"a secret": func(r *report) { r.look(r.tenants[0], "a page", []byte("x"+planted+"y")) },
		"a key":    func(r *report) { r.look(r.tenants[0], "a page", []byte("key-of-a")) },
		"a secret in hex": func(r *report) {
			r.hunt("a file", []byte(`\x00`+strings.Repeat("00", 9)+"6368616f732d706c616e7465642d41"), nil)
		},
		"a secret in base64": func(r *report) { r.hunt("a file", []byte(`"Y2hhb3MtcGxhbnRlZC1hYmNkZWZnaGlqa2xtbm9w"`), nil) },
		"a token that was issued": func(r *report) {
			r.hunt("a log", []byte("access-ABCDEFGHIJKLMNOPQRSTUVWXYZ"), map[string]bool{"ABCDEFGHIJKLMNOPQRSTUVWXYZ": true})
		},
		"a token that a program was given": func(r *report) {
			r.programs.given = map[string]bool{strings.Repeat("a2", 26): true}
			r.hunt("a log", []byte("x_b"+strings.Repeat("a2", 26)+"_"), nil)
		},
		"another tenant's mark":       func(r *report) { r.look(r.tenants[0], "a page", []byte("<b>markB</b>")) },
		"a lie":                       func(r *report) { r.look(r.tenants[0], "a result", []byte(lie)) },
		"an error of ours":            func(r *report) { r.lasts = time.Minute; r.met(r.tenants[0], "a page", 500, nil, nil) },
		"a refusal":                   func(r *report) { r.met(r.tenants[0], "a page", 404, nil, nil) },
		"a session that is forgotten": func(r *report) { r.forgets(r.tenants[0], 404, nil, nil) },
		"another's answer": func(r *report) {
			r.settleCall(r.tenants[0], "x", 7, 200, []byte(`{"id":7,"result":{"content":[{"text":"markA n=8."}]}}`), nil)
		},
		"a chain that is broken":             func(r *report) { r.chains-- },
		"a chain of outcomes that is broken": func(r *report) { r.endChains-- },
		"an end of a call that is not on record": func(r *report) {
			r.compareChains(r.tenants[0], chains{links: 1, calls: 1, kept: 2}, 0)
		},
		"a call that never ends": func(r *report) { r.compareChains(r.tenants[0], chains{links: 1, calls: 1, kept: -1}, 0) },
		"a call that was answered and is in no history": func(r *report) {
			r.compareChains(r.tenants[0], chains{links: 1, calls: 1, kept: 1}, 2)
		},
		"a process that does not come":  func(r *report) { r.ready = false },
		"a process that ends by itself": func(r *report) { r.replicas = append(r.replicas, &replica{alone: 1}) },
		"a call that stays open":        func(r *report) { r.open++ },
		"a session that stays":          func(r *report) { r.connections++ },
		"a connector without a sync":    func(r *report) { r.unsynced++ },
		"goroutines":                    func(r *report) { r.after = moreGoroutines + 1 },
		"a wrong list":                  func(r *report) { r.churned.Wrong = map[string]int{churn.WrongList: 1} },
		"a write that is gone": func(r *report) {
			r.writes.all = []*written{{tenant: r.tenants[0], slug: "x", created: true, about: []string{"0"}}}
			r.compare(r.tenants[0], nil, map[string]bool{"agent.create x": true})
		},
		"a write that nobody recorded": func(r *report) {
			r.writes.all = []*written{{tenant: r.tenants[0], slug: "x", created: true, about: []string{"0"}}}
			r.compare(r.tenants[0], map[string]string{"x": "0"}, nil)
		},
		"a removal that was none": func(r *report) {
			r.writes.all = []*written{{tenant: r.tenants[0], slug: "x", created: true, about: []string{"0"}, gone: true, maybe: true}}
			r.compare(r.tenants[0], map[string]string{"x": "0"}, map[string]bool{"agent.create x": true, "agent.delete x": true})
		},
		"a refresh token that ends though its answer was lost just now": func(r *report) {
			r.takes(&program{refresh: []string{"x"}, asked: time.Now()}, renewed{with: "x", status: 400, said: said{Error: "invalid_grant"}}, true)
		},
		"an end of a program that nobody ended":        func(r *report) { r.compareProgram(&program{allowed: true, fate: lives}, 1, []string{"stolen"}) },
		"a yes of a person that nobody recorded":       func(r *report) { r.compareProgram(&program{allowed: true}, 0, nil) },
		"a sign-out of a program that came to nothing": func(r *report) { r.compareProgram(&program{allowed: true, fate: left}, 1, nil) },
		"an assistant's act that was done twice": func(r *report) {
			r.attempts(r.tenants[0], "connector.create", "helped-1")
			r.compareActs(r.tenants[0], []acted{byAssistant, byAssistant}, nil)
		},
		"an assistant's act that is lost": func(r *report) {
			r.done(r.attempts(r.tenants[0], "connector.create", "helped-1"))
			r.compareActs(r.tenants[0], nil, nil)
		},
		"an assistant's act of somebody else's": func(r *report) {
			e := byAssistant
			e.Actor.Name = "somebody"
			r.compareActs(r.tenants[0], []acted{e}, nil)
		},
		"an assistant's connector that is gone": func(r *report) {
			r.attempts(r.tenants[0], "connector.create", "helped-1").stays = true
			r.compareActs(r.tenants[0], []acted{byAssistant}, nil)
		},
		"a sign-in that nobody recorded": func(r *report) {
			r.arrivals.all = []*arrival{{tenant: r.tenants[0], email: "p@a.example", acked: 1, tries: 1}}
			r.compareArrivals(r.tenants[0], nil, map[string]int{"p@a.example": 1})
		},
		"a sign-in that was done twice": func(r *report) {
			r.arrivals.all = []*arrival{{tenant: r.tenants[0], email: "p@a.example", acked: 1, tries: 1}}
			r.compareArrivals(r.tenants[0], map[string]int{"p@a.example": 2}, map[string]int{"p@a.example": 1})
		},
		"a member of another organisation": func(r *report) { r.compareArrivals(r.tenants[0], nil, map[string]int{"p@b.example": 1}) },
		"a refusal that says nothing":      func(r *report) { r.arrivedAt(r.tenants[0], 403, 303, []byte("no"), nil, func() bool { return false }) },
		"a refusal though all is well": func(r *report) {
			r.arrivedAt(r.tenants[0], 403, 303, []byte(`<div class="form-problem" role="alert">`), nil, func() bool { return true })
		},
		"a change that was forgotten": func(r *report) {
			r.writes.all = []*written{{tenant: r.tenants[0], slug: "x", created: true, about: []string{"1"}}}
			r.compare(r.tenants[0], map[string]string{"x": "0"}, map[string]bool{"agent.create x": true, "agent.update x": true})
		},
	} {
		r := good()
		spoil(r)
		if r.judge(&bytes.Buffer{}) == nil {
			t.Errorf("%s passes", what)
		}
	}
}
