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

// runReport holds the results of a run.
type runReport struct {
	*world
	faults        map[string]int
	ready         bool
	before, after int64 // goroutines: the maximum of all processes
	events        int
	chains        int
	endChains     int   // of call outcomes
	links, ends   int64 // in them, and their calls
	unsynced      int
	uncleanStops  int
	connections   int
	open          int64
	searched      int64
}

// maxExtraGoroutines allows for jobs and connections. A leak for each call would be far more.
const maxExtraGoroutines = 80

// idleGoroutines waits until the maximum of all processes is near before; before 0: it does not wait.
func (w *world) idleGoroutines(ctx context.Context, before int64) (count int64, err error) {
	for start := time.Now(); ; {
		count = 0
		for _, r := range w.replicas {
			n, err := readGoroutines(ctx, w.client, "http://"+r.private+"/metrics")
			if err != nil {
				return 0, err
			}
			count = max(count, n)
		}
		if before == 0 || count <= before+maxExtraGoroutines || time.Since(start) > 90*time.Second {
			return count, nil
		}
		select {
		case <-time.After(500 * time.Millisecond):
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}

func readGoroutines(ctx context.Context, client *http.Client, address string) (int64, error) {
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

// reportRow is a row of the table. want -1: informational.
type reportRow struct {
	what      string
	got, want int64
}

func (r *runReport) tableRows() []reportRow {
	crashes, failedStarts := 0, 0
	for _, replica := range r.replicas {
		crashes, failedStarts = crashes+replica.crashes, failedStarts+replica.failedStarts
	}
	problemRow := func(what, noted string) reportRow { return reportRow{what, int64(r.tally.problemCount(noted)), 0} }
	ready := int64(0)
	if r.ready {
		ready = 1
	}
	return append([]reportRow{
		{"all processes are ready again afterwards (1: yes)", ready, 1},
		{"jumps of clocks that the processes' own answers showed", int64(r.jumps), -1},
		{"writes that were acknowledged, and read back, in their tables and in the audit log", int64(r.writes.acked), -1},
		problemRow("acknowledged writes lost", "lost"),
		{"calls of agents", r.calls.made, -1},
		{"those that were answered", int64(len(r.calls.answered)), -1},
		{"sessions of agents of the handshake era", r.calls.sessions, -1},
		problemRow("sessions that a process did not know, though nobody had ended them", "session"),
		problemRow("double executions", "double"),
		problemRow("answers that were another's, or of a call that never came", "another answer"),
		problemRow("lies of servers that somebody was told", "believed"),
		problemRow("tenants crossed", "crossed"),
		{"MiB searched for secrets, besides every answer: the database as text and as files, logs, journals", r.searched >> 20, -1},
		problemRow("secrets seen", "secret"),
		problemRow("internal errors (500)", "500"),
		problemRow("requests of somebody who may that were refused (400, 401, 403, 404, 422)", "refused"),
		problemRow("people signed out", "signed out"),
		problemRow("webhooks' messages said to have arrived, and not seen", "webhook"),
		{"programs that a person let in, and that nobody ended", r.programs.countState(programActive), -1},
		{"times that they renewed their tokens", int64(r.programs.renewed), -1},
		{"of these, after an answer that was lost, or that nobody waited for", int64(r.programs.retried), -1},
		{"programs that have to sign in again, since an answer was lost for longer than ten seconds", r.programs.countState(programTooLate), -1},
		problemRow("programs that have to sign in again for another reason, or whose good token was refused", "ended"),
		{"thieves of a code or of an old token who were refused, and ended what came of it", r.programs.countState(programRevoked), -1},
		problemRow("codes, tokens and answers of providers that worked twice", "stolen"),
		problemRow("tokens that opened another address", "strayed"),
		problemRow("acts of assistants that a person has to agree to, and did not", "unasked"),
		{"people who came in by single sign-on", int64(r.arrivals.ended), -1},
		{"those who were told why not", int64(r.arrivals.told), -1},
		problemRow("answers that tell nobody what happened", "unclear"),
		{"audit chains verified", int64(r.chains), int64(len(r.tenants))},
		{"entries in them", int64(r.events), -1},
		{"chains of calls' outcomes verified", int64(r.endChains), int64(len(r.tenants))},
		{"links in them", r.links, -1},
		{"calls of whose end they tell", r.ends, -1},
		problemRow("tenants of which they tell of more or fewer calls than the history has, or of fewer than were answered", "unrecorded"),
		{"connectors that do not sync afterwards", int64(r.unsynced), 0},
		{"processes that ended by themselves", int64(crashes), 0},
		{"starts without a database, tried again", int64(failedStarts), -1},
		problemRow("processes that did not end in good order when asked", "ends"),
		{"calls still open at the servers", r.open, 0},
		{"sessions of the database left when all had ended", int64(r.connections), 0},
	}, r.churnRows()...)
}

// writeTables writes the tables, and returns an error if a row is not as wanted.
func (r *runReport) writeTables(out io.Writer) error {
	fmt.Fprint(out, "\n| what went wrong | times |\n|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(r.faults)) {
		fmt.Fprintf(out, "| %s | %d |\n", name, r.faults[name])
	}
	if !r.engine.disk.mounted {
		fmt.Fprintln(out, "| disks are full | not here: mounting a small filesystem needs root |")
	}
	if attempted := r.attemptedJumps(); r.movable && (attempted > 0) != (r.jumps > 0) {
		return fmt.Errorf("clocks were to jump %d times, and were seen to %d times", attempted, r.jumps)
	}
	if !r.movable {
		fmt.Fprintln(out, "| clocks jump | not here: the program was not built for that |")
	}
	fmt.Fprint(out, "\n| door | requests | of these |\n|---|---|---|\n")
	for _, door := range r.tally.doorNames() {
		kinds, sum := r.tally.byDoor[door], 0
		var outcomes []string
		for _, kind := range slices.Sorted(maps.Keys(kinds)) {
			sum += kinds[kind]
			outcomes = append(outcomes, fmt.Sprintf("%s: %d", kind, kinds[kind]))
		}
		fmt.Fprintf(out, "| %s | %d | %s |\n", door, sum, strings.Join(outcomes, ", "))
	}
	fmt.Fprint(out, "\n| what | is | must be |\n|---|---|---|\n")
	wrong := 0
	line := func(label string, got int64, must string, ok bool) {
		if !ok {
			wrong++
			must = "**" + must + "**"
		}
		fmt.Fprintf(out, "| %s | %d | %s |\n", label, got, must)
	}
	for _, row := range r.tableRows() {
		must := ""
		if row.want >= 0 {
			must = strconv.FormatInt(row.want, 10)
		}
		line(row.what, row.got, must, row.want < 0 || row.got == row.want)
	}
	limit := r.before + maxExtraGoroutines
	line(fmt.Sprintf("goroutines of the process that has the most (%d before)", r.before), r.after, fmt.Sprintf("≤ %d", limit), r.after <= limit)
	for _, sentence := range append(r.tally.problems, r.churned.Faults...) {
		fmt.Fprintln(out, sentence)
	}
	if wrong > 0 {
		return fmt.Errorf("%d things are not as they must be", wrong)
	}
	return nil
}

func (r *runReport) attemptedJumps() (times int) {
	for name, n := range r.faults {
		if strings.Contains(name, "clock") {
			times += n
		}
	}
	return times
}
