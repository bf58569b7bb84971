package main

import (
	"fmt"
	"io"
	"time"
)

// soakReport is the result of a soak.
type soakReport struct {
	made, listeners, dropped int
	took                     time.Duration
	rate                     float64

	answered, failed, cancelled, cut, resumed int64
	executedFailures                          int64 // calls that failed for the client and were executed

	before, after  processState
	atRest, atLast mockStats // before and after Patchbay stops
}

// Allowed differences: goroutines of timers, jobs and the database pool, and idle sockets to servers. A leak
// per call or session would be far larger.
const (
	moreGoroutines = 40
	moreSockets    = 40
)

// reportRow is one line of the table. A bad row fails the soak.
type reportRow struct {
	what     string
	is, want int64
	isGood   bool
}

func exactRow(what string, got, must int64) reportRow { return reportRow{what, got, must, got == must} }
func atMostRow(what string, got, must int64) reportRow {
	return reportRow{what, got, must, got <= must}
}
func infoRow(what string, got int64) reportRow { return reportRow{what, got, -1, true} }

func (r *soakReport) tableRows() []reportRow {
	lost := r.failed - r.cut
	return []reportRow{
		infoRow("calls", int64(r.made)),
		infoRow("each second", int64(r.rate)),
		exactRow("answered, failed as they had to, or cancelled", r.answered+r.failed+r.cancelled, int64(r.made)),
		infoRow("failed: the server cut its reply off", r.cut),
		atMostRow("failed: the session was lost twice on the way, and the call did not run", lost, r.atLast.Lost),
		exactRow("failed, and have run", r.executedFailures, 0),
		exactRow("the server saw: different calls", r.atLast.Calls-r.atLast.Twice-r.atLast.Again, int64(r.made)-lost),
		exactRow("calls that came twice", r.atLast.Twice, 0),
		exactRow("beside those whose reply was cut off, of a tool that only reads: they were answered at the second time", r.atLast.Again, r.resumed),
		exactRow("calls that were cancelled, and the server heard of it", r.atLast.Cancelled, r.cancelled),
		exactRow("cancelled calls of which it did not", r.atLast.Abandoned, 0),
		exactRow("calls still open, after the last one", r.atRest.Open, 0),
		exactRow("replies still streaming", r.atRest.Streams, 0),
		infoRow("sessions opened", r.atLast.Opened),
		infoRow("sessions that the server threw away", r.atLast.Forgotten),
		infoRow("sessions that Patchbay ended", r.atLast.Deleted),
		exactRow("sessions left when Patchbay had stopped", r.atLast.Left, 0),
		exactRow("requests in another account's session", r.atLast.Foreign, 0),
		infoRow("streams for what the server says by itself, at the end of the calls", r.atRest.Listening),
		exactRow("these when Patchbay had stopped", r.atLast.Listening, 0),
		infoRow("agents that listened through all of it", int64(r.listeners)),
		exactRow("those that lost their stream", int64(r.dropped), 0),
		atMostRow(fmt.Sprintf("goroutines of Patchbay (%d before)", r.before.goroutines), r.after.goroutines, r.before.maxGoroutines(r.after)),
		atMostRow(fmt.Sprintf("its open sockets (%d before)", r.before.sockets), r.after.sockets, r.before.sockets+moreSockets),
		infoRow(fmt.Sprintf("its resident memory in MiB (%d before)", r.before.resident>>20), r.after.resident>>20),
		infoRow(fmt.Sprintf("its heap in use after a collection, in MiB (%d before)", r.before.heap>>20), r.after.heap>>20),
	}
}

// printTable prints the table. The error reports bad rows.
func (r *soakReport) printTable(out io.Writer) error {
	wrong := 0
	fmt.Fprintln(out, "\n| what | is | must be |\n|---|---|---|")
	for _, row := range r.tableRows() {
		must := ""
		switch {
		case row.want >= 0 && row.isGood:
			must = fmt.Sprint(row.want)
		case !row.isGood:
			wrong++
			must = fmt.Sprintf("**%d**", row.want)
		}
		fmt.Fprintf(out, "| %s | %d | %s |\n", row.what, row.is, must)
	}
	fmt.Fprintf(out, "\n%v.\n", r.took.Round(time.Second))
	if wrong > 0 {
		return fmt.Errorf("%d things are not as they must be", wrong)
	}
	return nil
}
