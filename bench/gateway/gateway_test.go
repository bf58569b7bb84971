package main

import (
	"bytes"
	"testing"
)

func TestSoakReport_DetectsFaults(t *testing.T) {
	t.Parallel()
	good := func() *soakReport {
		return &soakReport{
			made: 100, answered: 97, failed: 2, cancelled: 1, cut: 2,
			atLast: mockStats{Calls: 100, Opened: 5, Forgotten: 2, Deleted: 3, Cancelled: 1},
		}
	}
	if err := good().printTable(&bytes.Buffer{}); err != nil {
		t.Fatalf("a report without a fault is judged %v", err)
	}
	for what, spoil := range map[string]func(*soakReport){
		"a lost reply":                       func(r *soakReport) { r.answered-- },
		"a failure of a call that ran":       func(r *soakReport) { r.executedFailures++ },
		"a failure without a reason":         func(r *soakReport) { r.answered, r.failed = r.answered-1, r.failed+1 },
		"a second call":                      func(r *soakReport) { r.atLast.Calls, r.atLast.Twice = 101, 1 },
		"a call of nobody's that came again": func(r *soakReport) { r.atLast.Calls, r.atLast.Again = 101, 1 },
		"a call that never came":             func(r *soakReport) { r.atLast.Calls-- },
		"a session that stays":               func(r *soakReport) { r.atLast.Left++ },
		"another one's session":              func(r *soakReport) { r.atLast.Foreign++ },
		"a call that stays open":             func(r *soakReport) { r.atRest.Open++ },
		"a reply that stays open":            func(r *soakReport) { r.atRest.Streams++ },
		"a stream that stays":                func(r *soakReport) { r.atLast.Listening++ },
		"a cancellation that got lost":       func(r *soakReport) { r.atLast.Cancelled, r.atLast.Abandoned = 0, 1 },
		"a listener that lost its line":      func(r *soakReport) { r.dropped++ },
		"goroutines":                         func(r *soakReport) { r.after.goroutines = moreGoroutines + 1 },
		"goroutines beside streams":          func(r *soakReport) { r.after.goroutines, r.after.listening = moreGoroutines+7, 2 },
		"sockets":                            func(r *soakReport) { r.after.sockets = moreSockets + 1 },
	} {
		r := good()
		spoil(r)
		if r.printTable(&bytes.Buffer{}) == nil {
			t.Errorf("%s passes", what)
		}
	}
}
