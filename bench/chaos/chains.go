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

// chains are what a tenant's two chains are found to be: that of the audit log, and that of how calls ended, which is held against the history.
type chains struct {
	log     bool // every entry is as it was recorded, and none is missing
	entries int
	ends    bool // every call stands in the history as it ended, and none is missing
	links   int64
	calls   int64 // of whose end the links tell, and that are kept
	kept    int64 // calls that the history has, and that ended; -1: some have not
}

// endsPatience is how long the last ends may take to be written, and the calls of processes that died to be found.
const endsPatience = 90 * time.Second

// chainsAfterwards verifies the tenant's chains, the second until it tells of as many calls as the history, and of no fewer than were answered:
// the last batch of the history may still be on its way.
func (w *world) chainsAfterwards(ctx context.Context, t *tenant) (is chains, err error) {
	for began := time.Now(); ; {
		if is.kept, err = w.keptEnds(ctx, t); err != nil {
			return is, err
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
		if err := w.ask(ctx, t, http.MethodGet, "/api/v1/audit_events/verify", nil, &check); err != nil {
			return is, err
		}
		is.log, is.entries = check.OK, check.Events
		is.ends, is.links, is.calls = check.Calls.OK, check.Calls.Places, check.Calls.Calls-check.Calls.Gone
		if !check.Calls.Whole { // there are more than fit into the time of a request
			if is.calls, err = w.verifiesByHand(ctx, t); err != nil {
				return is, err
			}
		}
		if !is.log || !is.ends {
			w.tally.note("chains", fmt.Sprintf("of %s: %s %s", t.slug, check.Reason, check.Calls.Reason))
			return is, nil
		}
		if is.kept == is.calls && is.calls >= w.calls.of(t) || time.Since(began) > endsPatience {
			return is, nil
		}
		select {
		case <-time.After(500 * time.Millisecond):
		case <-ctx.Done():
			return is, ctx.Err()
		}
	}
}

// keptEnds is how many calls the history has, all of which have ended; -1: one goes on.
func (w *world) keptEnds(ctx context.Context, t *tenant) (int64, error) {
	for _, still := range []string{"running", "pending_approval"} {
		var some struct{ Items []json.RawMessage }
		if err := w.ask(ctx, t, http.MethodGet, "/api/v1/tool_calls?limit=1&status="+still, nil, &some); err != nil || len(some.Items) > 0 {
			return -1, err
		}
	}
	all, err := everything[struct{ Status string }](ctx, w, t, "/api/v1/tool_calls?")
	return int64(len(all)), err
}

// verifiesByHand is how many calls' ends an operator's command finds as they are on record.
func (w *world) verifiesByHand(ctx context.Context, t *tenant) (calls int64, err error) {
	text, err := w.command(ctx, "audit", "verify", "--tenant", t.slug)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(text) {
		if _, err := fmt.Sscanf(line, t.slug+": %d calls ended as is on record", &calls); err == nil {
			return calls, nil
		}
	}
	return 0, errors.New("the command says nothing of calls: " + text)
}

// compareChains adds what was found of a tenant's chains. Of its calls so many were answered.
func (r *report) compareChains(t *tenant, is chains, answered int64) {
	r.events, r.links, r.ends = r.events+is.entries, r.links+is.links, r.ends+is.calls
	if is.log {
		r.chains++
	}
	if is.ends {
		r.endChains++
	}
	if is.kept != is.calls {
		r.tally.note("unrecorded", fmt.Sprintf("of %s the history has %d calls, all ended (-1: some did not), and it is on record that %d did", t.slug, is.kept, is.calls))
	}
	if answered > is.calls {
		r.tally.note("unrecorded", fmt.Sprintf("%d calls of %s were answered, and it is on record that %d ended", answered, t.slug, is.calls))
	}
}
