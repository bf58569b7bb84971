package main

import (
	"fmt"
	"io"
	"time"
)

// report is what a soak has found.
type report struct {
	made, listeners, dropped int
	took                     time.Duration
	rate                     float64

	answered, failed, cancelled, cut, resumed int64
	untold                                    int64 // calls that failed by what their clients heard, and have run

	before, after  state
	atRest, atLast mockStats // before and after Patchbay has ended
}

// Bounds on what may differ between before and after: goroutines of the program's own clock, jobs and database pool come and go, more of them
// on a busy machine, and sockets to the servers stay open for the next call. What each call or session left behind would be far more.
const (
	moreGoroutines = 40
	moreSockets    = 40
)

// row is one line of the table. Where it is not as it must be, the soak has failed.
type row struct {
	what     string
	is, must int64
	good     bool
}

func exactly(what string, is, must int64) row { return row{what, is, must, is == must} }
func atMost(what string, is, must int64) row  { return row{what, is, must, is <= must} }
func told(what string, is int64) row          { return row{what, is, -1, true} }

func (r *report) rows() []row {
	lost := r.failed - r.cut
	return []row{
		told("calls", int64(r.made)),
		told("each second", int64(r.rate)),
		exactly("answered, failed as they had to, or cancelled", r.answered+r.failed+r.cancelled, int64(r.made)),
		told("failed: the server cut its reply off", r.cut),
		atMost("failed: the session was lost twice on the way, and the call did not run", lost, r.atLast.Lost),
		exactly("failed, and have run", r.untold, 0),
		exactly("the server saw: different calls", r.atLast.Calls-r.atLast.Twice-r.atLast.Again, int64(r.made)-lost),
		exactly("calls that came twice", r.atLast.Twice, 0),
		exactly("beside those whose reply was cut off, of a tool that only reads: they were answered at the second time", r.atLast.Again, r.resumed),
		exactly("calls that were cancelled, and the server heard of it", r.atLast.Cancelled, r.cancelled),
		exactly("cancelled calls of which it did not", r.atLast.Abandoned, 0),
		exactly("calls still open, after the last one", r.atRest.Open, 0),
		exactly("replies still streaming", r.atRest.Streams, 0),
		told("sessions opened", r.atLast.Opened),
		told("sessions that the server threw away", r.atLast.Forgotten),
		told("sessions that Patchbay ended", r.atLast.Deleted),
		exactly("sessions left when Patchbay had stopped", r.atLast.Left, 0),
		exactly("requests in another account's session", r.atLast.Foreign, 0),
		told("streams for what the server says by itself, at the end of the calls", r.atRest.Listening),
		exactly("these when Patchbay had stopped", r.atLast.Listening, 0),
		told("agents that listened through all of it", int64(r.listeners)),
		exactly("those that lost their stream", int64(r.dropped), 0),
		atMost(fmt.Sprintf("goroutines of Patchbay (%d before)", r.before.goroutines), r.after.goroutines, r.before.mostGoroutines(r.after)),
		atMost(fmt.Sprintf("its open sockets (%d before)", r.before.sockets), r.after.sockets, r.before.sockets+moreSockets),
		told(fmt.Sprintf("its resident memory in MiB (%d before)", r.before.resident>>20), r.after.resident>>20),
		told(fmt.Sprintf("its heap in use after a collection, in MiB (%d before)", r.before.heap>>20), r.after.heap>>20),
	}
}

// judge prints the table, and is an error where something is not as it must be.
func (r *report) judge(out io.Writer) error {
	wrong := 0
	fmt.Fprintln(out, "\n| what | is | must be |\n|---|---|---|")
	for _, one := range r.rows() {
		must := ""
		switch {
		case one.must >= 0 && one.good:
			must = fmt.Sprint(one.must)
		case !one.good:
			wrong++
			must = fmt.Sprintf("**%d**", one.must)
		}
		fmt.Fprintf(out, "| %s | %d | %s |\n", one.what, one.is, must)
	}
	fmt.Fprintf(out, "\n%v.\n", r.took.Round(time.Second))
	if wrong > 0 {
		return fmt.Errorf("%d things are not as they must be", wrong)
	}
	return nil
}
