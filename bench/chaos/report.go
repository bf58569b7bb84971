package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"patchbay/bench/churn"
)

// report is what a run has found.
type report struct {
	*world
	faults        map[string]int
	ready         bool
	before, after int64 // goroutines of the process that has the most
	events        int
	chains        int
	endChains     int   // those of how calls ended
	links, ends   int64 // in these, and the calls of whose end they tell
	unsynced      int
	disorderly    int
	connections   int
	open          int64
	searched      int64
}

// moreGoroutines is how many may come and go with jobs and connections; what each call left behind would be far more.
const moreGoroutines = 80

// atRest is how many goroutines the process has that has the most, once they are few enough again; most 0: at once.
func (w *world) atRest(ctx context.Context, most int64) (now int64, err error) {
	for began := time.Now(); ; {
		now = 0
		for _, r := range w.replicas {
			n, err := goroutines(ctx, w.client, "http://"+r.private+"/metrics")
			if err != nil {
				return 0, err
			}
			now = max(now, n)
		}
		if most == 0 || now <= most+moreGoroutines || time.Since(began) > 90*time.Second {
			return now, nil
		}
		select {
		case <-time.After(500 * time.Millisecond):
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}

func goroutines(ctx context.Context, client *http.Client, address string) (int64, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return 0, err
	}
	r.Close = true
	_, text, err := churn.ReadAnswer(client.Do(r)) //nolint:bodyclose // ReadAnswer closes it
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "go_goroutines "); ok {
			n, err := strconv.ParseFloat(strings.TrimSpace(rest), 64)
			return int64(n), err
		}
	}
	return 0, fmt.Errorf("no goroutines at %s: %w", address, err)
}

// row is one line of the table. must is -1 where it only tells.
type row struct {
	what     string
	is, must int64
}

func (r *report) rows() []row {
	alone, again := 0, 0
	for _, one := range r.replicas {
		alone, again = alone+one.alone, again+one.again
	}
	none := func(what, noted string) row { return row{what, int64(r.tally.noted(noted)), 0} }
	ready := int64(0)
	if r.ready {
		ready = 1
	}
	return append([]row{
		{"all processes are ready again afterwards (1: yes)", ready, 1},
		{"jumps of clocks that the processes' own answers showed", int64(r.jumps), -1},
		{"writes that were acknowledged, and read back, in their tables and in the audit log", int64(r.writes.acked), -1},
		none("acknowledged writes lost", "lost"),
		{"calls of agents", r.calls.made, -1},
		{"those that were answered", int64(len(r.calls.answered)), -1},
		{"sessions of agents of the handshake era", r.calls.sessions, -1},
		none("sessions that a process did not know, though nobody had ended them", "session"),
		none("double executions", "double"),
		none("answers that were another's, or of a call that never came", "another answer"),
		none("lies of servers that somebody was told", "believed"),
		none("tenants crossed", "crossed"),
		{"MiB searched for secrets, besides every answer: the database as text and as files, logs, journals", r.searched >> 20, -1},
		none("secrets seen", "secret"),
		none("internal errors (500)", "500"),
		none("requests of somebody who may that were refused (400, 401, 403, 404, 422)", "refused"),
		none("people signed out", "signed out"),
		none("webhooks' messages said to have arrived, and not seen", "webhook"),
		{"programs that a person let in, and that nobody ended", r.programs.count(lives), -1},
		{"times that they renewed their tokens", int64(r.programs.renewed), -1},
		{"of these, after an answer that was lost, or that nobody waited for", int64(r.programs.again), -1},
		{"programs that have to sign in again, since an answer was lost for longer than ten seconds", r.programs.count(late), -1},
		none("programs that have to sign in again for another reason, or whose good token was refused", "ended"),
		{"thieves of a code or of an old token who were refused, and ended what came of it", r.programs.count(caught), -1},
		none("codes, tokens and answers of providers that worked twice", "stolen"),
		none("tokens that opened another address", "strayed"),
		none("acts of assistants that a person has to agree to, and did not", "unasked"),
		{"people who came in by single sign-on", int64(r.arrivals.ended), -1},
		{"those who were told why not", int64(r.arrivals.told), -1},
		none("answers that tell nobody what happened", "unclear"),
		{"audit chains verified", int64(r.chains), int64(len(r.tenants))},
		{"entries in them", int64(r.events), -1},
		{"chains of calls' outcomes verified", int64(r.endChains), int64(len(r.tenants))},
		{"links in them", r.links, -1},
		{"calls of whose end they tell", r.ends, -1},
		none("tenants of which they tell of more or fewer calls than the history has, or of fewer than were answered", "unrecorded"),
		{"connectors that do not sync afterwards", int64(r.unsynced), 0},
		{"processes that ended by themselves", int64(alone), 0},
		{"starts without a database, tried again", int64(again), -1},
		none("processes that did not end in good order when asked", "ends"),
		{"calls still open at the servers", r.open, 0},
		{"sessions of the database left when all had ended", int64(r.connections), 0},
	}, r.churnRows()...)
}

// judge prints the tables, and is an error where something is not as it must be.
func (r *report) judge(out io.Writer) error {
	fmt.Fprint(out, "\n| what went wrong | times |\n|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(r.faults)) {
		fmt.Fprintf(out, "| %s | %d |\n", name, r.faults[name])
	}
	if !r.engine.disk.mounted {
		fmt.Fprintln(out, "| disks are full | not here: mounting a small filesystem needs root |")
	}
	if tried := r.triedClocks(); r.movable && (tried > 0) != (r.jumps > 0) {
		return fmt.Errorf("clocks were to jump %d times, and were seen to %d times", tried, r.jumps)
	}
	if !r.movable {
		fmt.Fprintln(out, "| clocks jump | not here: the program was not built for that |")
	}
	fmt.Fprint(out, "\n| door | requests | of these |\n|---|---|---|\n")
	for _, door := range r.tally.doors() {
		kinds, sum := r.tally.of[door], 0
		var said []string
		for _, kind := range slices.Sorted(maps.Keys(kinds)) {
			sum += kinds[kind]
			said = append(said, fmt.Sprintf("%s: %d", kind, kinds[kind]))
		}
		fmt.Fprintf(out, "| %s | %d | %s |\n", door, sum, strings.Join(said, ", "))
	}
	fmt.Fprint(out, "\n| what | is | must be |\n|---|---|---|\n")
	wrong := 0
	line := func(what string, is int64, must string, good bool) {
		if !good {
			wrong++
			must = "**" + must + "**"
		}
		fmt.Fprintf(out, "| %s | %d | %s |\n", what, is, must)
	}
	for _, one := range r.rows() {
		must := ""
		if one.must >= 0 {
			must = strconv.FormatInt(one.must, 10)
		}
		line(one.what, one.is, must, one.must < 0 || one.is == one.must)
	}
	most := r.before + moreGoroutines
	line(fmt.Sprintf("goroutines of the process that has the most (%d before)", r.before), r.after, fmt.Sprintf("≤ %d", most), r.after <= most)
	for _, sentence := range append(r.tally.odd, r.churned.Faults...) {
		fmt.Fprintln(out, sentence)
	}
	if wrong > 0 {
		return fmt.Errorf("%d things are not as they must be", wrong)
	}
	return nil
}

// triedClocks is how often clocks were to jump.
func (r *report) triedClocks() (times int) {
	for name, n := range r.faults {
		if strings.Contains(name, "clock") {
			times += n
		}
	}
	return times
}
