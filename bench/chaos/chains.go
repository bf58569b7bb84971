package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// chainCheck is the state of a tenant's two hash chains: of the audit log and of call outcomes.
type chainCheck struct {
	logOK      bool // every entry is unchanged and present
	entries    int
	outcomesOK bool // every outcome in the history is unchanged and present
	links      int64
	calls      int64 // in the links, without deleted ones
	recorded   int64 // ended calls in the history; -1: some are running
}

// maxChainWait bounds the time to write the last outcomes, and to find the calls of dead processes.
const maxChainWait = 90 * time.Second

// verifyChains verifies both chains. It waits until the outcomes match the history and cover all answered
// calls: the last batch may be late.
func (w *world) verifyChains(ctx context.Context, t *tenant) (result chainCheck, err error) {
	for start := time.Now(); ; {
		if result.recorded, err = w.countEndedCalls(ctx, t); err != nil {
			return result, err
		}
		var check struct {
			OK     bool
			Events int
			Reason string
			Calls  struct {
				OK, Whole           bool
				Calls, Gone, Places int64
				Reason              string
			}
		}
		if err := w.requireAPI(ctx, t, http.MethodGet, "/api/v1/audit_events/verify", nil, &check); err != nil {
			return result, err
		}
		result.logOK, result.entries = check.OK, check.Events
		result.outcomesOK, result.links, result.calls = check.Calls.OK, check.Calls.Places, check.Calls.Calls-check.Calls.Gone
		if !check.Calls.Whole { // too many to verify in one request
			if result.calls, err = w.verifyByCommand(ctx, t); err != nil {
				return result, err
			}
		}
		if !result.logOK || !result.outcomesOK {
			w.tally.recordProblem("chains", fmt.Sprintf("of %s: %s %s", t.slug, check.Reason, check.Calls.Reason))
			return result, nil
		}
		if result.recorded == result.calls && result.calls >= w.calls.answeredFor(t) || time.Since(start) > maxChainWait {
			return result, nil
		}
		select {
		case <-time.After(500 * time.Millisecond):
		case <-ctx.Done():
			return result, ctx.Err()
		}
	}
}

// countEndedCalls counts the calls in the history; -1: some are running.
func (w *world) countEndedCalls(ctx context.Context, t *tenant) (int64, error) {
	for _, status := range []string{"running", "pending_approval"} {
		var some struct{ Items []json.RawMessage }
		if err := w.requireAPI(ctx, t, http.MethodGet, "/api/v1/tool_calls?limit=1&status="+status, nil, &some); err != nil || len(some.Items) > 0 {
			return -1, err
		}
	}
	all, err := listAll[struct{ Status string }](ctx, w, t, "/api/v1/tool_calls?")
	return int64(len(all)), err
}

// verifyByCommand counts the outcomes that the audit command verifies.
func (w *world) verifyByCommand(ctx context.Context, t *tenant) (calls int64, err error) {
	text, err := w.runCommand(ctx, "audit", "verify", "--tenant", t.slug)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(text) {
		if _, err := fmt.Sscanf(line, t.slug+": %d calls match the record", &calls); err == nil {
			return calls, nil
		}
	}
	return 0, errors.New("the command says nothing of calls: " + text)
}

// compareChains adds a tenant's check to the report.
func (r *runReport) compareChains(t *tenant, check chainCheck, answered int64) {
	r.events, r.links, r.ends = r.events+check.entries, r.links+check.links, r.ends+check.calls
	if check.logOK {
		r.chains++
	}
	if check.outcomesOK {
		r.endChains++
	}
	if check.recorded != check.calls {
		r.tally.recordProblem("unrecorded", fmt.Sprintf("of %s the history has %d calls, all ended (-1: some did not), and it is on record that %d did", t.slug, check.recorded, check.calls))
	}
	if answered > check.calls {
		r.tally.recordProblem("unrecorded", fmt.Sprintf("%d calls of %s were answered, and it is on record that %d ended", answered, t.slug, check.calls))
	}
}
