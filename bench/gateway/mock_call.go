package main

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// ledger remembers the calls.
type ledger struct {
	mu                   sync.Mutex // guards what follows
	times                map[int64]int
	calls, twice, again  int64
	cancelled, abandoned int64
}

// note counts a call, and tells whether it is one that was cut off and comes again, as it may.
func (l *ledger) note(s said) (again bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls++
	a := s.Params.Arguments
	l.times[a.N]++
	switch times := l.times[a.N]; {
	case times == 2 && a.Do == doCut && s.Params.Name == toolThatReads:
		l.again++
		return true
	case times > 1:
		l.twice++
	}
	return false
}

// ended notes how a wait has ended.
func (l *ledger) ended(cancelled bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if cancelled {
		l.cancelled++
	} else {
		l.abandoned++
	}
}

func (l *ledger) of(numbers []int64) []int {
	l.mu.Lock()
	defer l.mu.Unlock()
	times := make([]int, len(numbers))
	for i, n := range numbers {
		times[i] = l.times[n]
	}
	return times
}

func (l *ledger) tell(s *mockStats) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.Calls, s.Twice, s.Again, s.Cancelled, s.Abandoned = l.calls, l.twice, l.again, l.cancelled, l.abandoned
}

// call answers tools/call. in: the session; nil: the era has none.
func (m *mock) call(w http.ResponseWriter, r *http.Request, s said, in *session) {
	a := s.Params.Arguments
	again := m.ledger.note(s)
	m.open.Add(1)
	defer m.open.Add(-1)
	if a.SSE {
		m.streams.Add(1)
		defer m.streams.Add(-1)
	}
	result := echoFor(a.callArguments, account(r))
	switch {
	case again:
		reply(w, s.ID, result, a.SSE)
	case a.Do == doTell:
		m.progress(w, s, 3)
		reply(w, s.ID, result, true)
	case a.Do == doCut:
		cut(w, s, result)
	case a.Do == doWait:
		cancelled, leave := in.await(s.ID)
		defer leave()
		m.progress(w, s, 1)
		m.wait(r, cancelled)
	case a.Do == doForget:
		m.sessions.forget(in) // what comes after it is turned away; its own reply is not
		reply(w, s.ID, result, a.SSE)
	default:
		reply(w, s.ID, result, a.SSE)
	}
}

// wait is over when the client has cancelled, in either era's way.
func (m *mock) wait(r *http.Request, cancelled <-chan struct{}) {
	patient := time.NewTimer(patience)
	defer patient.Stop()
	select {
	case <-r.Context().Done():
		m.ledger.ended(true)
	case <-cancelled:
		m.ledger.ended(true)
	case <-patient.C:
		m.ledger.ended(false)
	}
}

// progress begins a stream, on which so many notes come before the result.
func (m *mock) progress(w http.ResponseWriter, s said, notes int) {
	w.Header().Set("Content-Type", "text/event-stream")
	for i := 1; i <= notes && len(s.Params.Meta.Token) > 0; i++ {
		_, _ = fmt.Fprintf(w, "event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":%s,\"progress\":%d,\"total\":4}}\n\n",
			s.Params.Meta.Token, i)
	}
	_ = http.NewResponseController(w).Flush()
}

// cut sends half of a reply, and ends the connection.
func cut(w http.ResponseWriter, s said, result []byte) {
	b := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, s.ID, result)
	if s.Params.Arguments.SSE {
		w.Header().Set("Content-Type", "text/event-stream")
		b = "event: message\ndata: " + b + "\n\n"
	} else {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(b)))
	}
	_, _ = io.WriteString(w, b[:len(b)/2])
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

// echoFor is the result of a call, which tells for which account it came.
func echoFor(a callArguments, account string) []byte {
	result := echo(a, false)
	return append(append(append(result[:len(result)-1], `,"_meta":{"account":"`...), account...), `"}}`...)
}
