package main

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// callLog counts the received calls.
type callLog struct {
	mu                   sync.Mutex // guards the fields below
	byNumber             map[int64]int
	calls, twice, again  int64
	cancelled, abandoned int64
}

// recordCall counts a call and reports whether it is an allowed retry after an aborted reply.
func (l *callLog) recordCall(s mockMessage) (again bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls++
	a := s.Params.Arguments
	l.byNumber[a.N]++
	switch times := l.byNumber[a.N]; {
	case times == 2 && a.Do == doCut && s.Params.Name == readTool:
		l.again++
		return true
	case times > 1:
		l.twice++
	}
	return false
}

// recordWait counts the end of a blocking call.
func (l *callLog) recordWait(cancelled bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if cancelled {
		l.cancelled++
	} else {
		l.abandoned++
	}
}

func (l *callLog) countCalls(numbers []int64) []int {
	l.mu.Lock()
	defer l.mu.Unlock()
	times := make([]int, len(numbers))
	for i, n := range numbers {
		times[i] = l.byNumber[n]
	}
	return times
}

func (l *callLog) addStats(s *mockStats) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.Calls, s.Twice, s.Again, s.Cancelled, s.Abandoned = l.calls, l.twice, l.again, l.cancelled, l.abandoned
}

// serveCall serves tools/call. in is the session; nil for the modern era.
func (m *mockServer) serveCall(w http.ResponseWriter, r *http.Request, s mockMessage, in *mockSession) {
	a := s.Params.Arguments
	again := m.calls.recordCall(s)
	m.open.Add(1)
	defer m.open.Add(-1)
	if a.SSE {
		m.streams.Add(1)
		defer m.streams.Add(-1)
	}
	result := echoAccount(a.callArguments, requestAccount(r))
	switch {
	case again:
		writeReply(w, s.ID, result, a.SSE)
	case a.Do == doProgress:
		m.sendProgress(w, s, 3)
		writeReply(w, s.ID, result, true)
	case a.Do == doCut:
		sendHalf(w, s, result)
	case a.Do == doWait:
		cancelled, stop := in.watchCancel(s.ID)
		defer stop()
		m.sendProgress(w, s, 1)
		m.waitForCancel(r, cancelled)
	case a.Do == doForget:
		m.sessions.forgetSession(in) // only later requests are refused
		writeReply(w, s.ID, result, a.SSE)
	default:
		writeReply(w, s.ID, result, a.SSE)
	}
}

// waitForCancel blocks until the client cancels by either era's rules.
func (m *mockServer) waitForCancel(r *http.Request, cancelled <-chan struct{}) {
	patient := time.NewTimer(maxCallWait)
	defer patient.Stop()
	select {
	case <-r.Context().Done():
		m.calls.recordWait(true)
	case <-cancelled:
		m.calls.recordWait(true)
	case <-patient.C:
		m.calls.recordWait(false)
	}
}

// sendProgress starts a stream with n progress notifications.
func (m *mockServer) sendProgress(w http.ResponseWriter, s mockMessage, notes int) {
	w.Header().Set("Content-Type", "text/event-stream")
	for i := 1; i <= notes && len(s.Params.Meta.Token) > 0; i++ {
		_, _ = fmt.Fprintf(w, "event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":%s,\"progress\":%d,\"total\":4}}\n\n",
			s.Params.Meta.Token, i)
	}
	_ = http.NewResponseController(w).Flush()
}

// sendHalf sends half of a reply and aborts the connection.
func sendHalf(w http.ResponseWriter, s mockMessage, result []byte) {
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

// echoAccount returns a call's result with the account that was used.
func echoAccount(a callArguments, account string) []byte {
	result := echoResult(a, false)
	return append(append(append(result[:len(result)-1], `,"_meta":{"account":"`...), account...), `"}}`...)
}
