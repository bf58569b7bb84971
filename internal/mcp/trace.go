package mcp

import (
	"io"
	"net/http"
	"sync"
	"time"
)

// Exchange is one request and its response, for diagnosing a sync. It holds no address, header or
// body.
type Exchange struct {
	Phase    Phase
	Method   string // of HTTP; empty: a message to a child process
	Call     string // the MCP method; empty: none
	Page     int    // of a tool list, from 1; 0: none
	Era      Era
	At       time.Duration // since the trace began
	Took     time.Duration // to the last byte read of the response
	Status   int           // of HTTP; 0: none
	Sent     int64         // bytes of the body
	Received int64         // bytes of the response body
	Reason   Reason        // why it failed; empty: success
	RPCCode  int           // 0: none

	id int
}

// maxExchanges bounds a trace; beyond it, the first and the last exchanges are kept.
const (
	maxExchanges      = 64
	keptLastExchanges = 16
)

// Trace records the exchanges of one sync over any number of sessions. The zero value is ready; nil records
// nothing.
type Trace struct {
	mu          sync.Mutex // guards the fields below
	began       time.Time
	exchanges   []*Exchange
	dropped     int // exchanges that were not kept
	listedPages int // tool list pages that arrived
}

// Exchanges returns the recorded exchanges in order, and the number of dropped ones.
func (t *Trace) Exchanges() (list []Exchange, left int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	list = make([]Exchange, len(t.exchanges))
	for i, e := range t.exchanges {
		list[i] = *e
	}
	return list, t.dropped
}

// exchangeTrace records one running exchange; the zero value records nothing.
type exchangeTrace struct {
	*Trace
	exchange *Exchange
}

func (t *Trace) beginExchange(method string, m outgoingMessage, in Era) exchangeTrace {
	if t == nil {
		return exchangeTrace{}
	}
	now := time.Now()
	e := &Exchange{Phase: m.phase, Method: method, Call: m.method, Era: in, Sent: int64(len(m.body)), id: m.id}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.began.IsZero() {
		t.began = now
	}
	e.At = now.Sub(t.began)
	switch m.phase {
	case PhaseDiscover, PhaseInitialize:
		t.listedPages = 0
	case PhaseList:
		e.Page = t.listedPages + 1
	}
	if len(t.exchanges) == maxExchanges {
		t.exchanges = append(t.exchanges[:maxExchanges-keptLastExchanges], t.exchanges[maxExchanges-keptLastExchanges+1:]...)
		t.dropped++
	}
	t.exchanges = append(t.exchanges, e)
	return exchangeTrace{Trace: t, exchange: e}
}

// recordResponse records a response's status and counts its body.
func (x exchangeTrace) recordResponse(resp *http.Response, err error) {
	if x.Trace == nil {
		return
	}
	x.mu.Lock()
	x.exchange.Took = time.Since(x.began) - x.exchange.At
	if err == nil {
		x.exchange.Status = resp.StatusCode
	}
	x.mu.Unlock()
	if err != nil || resp.Body == http.NoBody {
		return
	}
	body := tracedBody{ReadCloser: resp.Body, trace: x}
	if p, ok := resp.Body.(readyBody); ok {
		resp.Body = tracedReadyBody{tracedBody: body, readyBody: p}
	} else {
		resp.Body = body
	}
}

func (x exchangeTrace) recordRead(n int) {
	if n == 0 {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.exchange.Received += int64(n)
	x.exchange.Took = time.Since(x.began) - x.exchange.At
}

// recordOutcome records the result of a message in its last exchange.
func (t *Trace) recordOutcome(m outgoingMessage, failure *Error) {
	if t == nil || failure == nil && m.phase != PhaseList {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if failure == nil {
		t.listedPages++
		return
	}
	for i := len(t.exchanges) - 1; i >= 0; i-- {
		if e := t.exchanges[i]; e.id == m.id && e.Call == m.method {
			e.Reason, e.RPCCode = failure.Reason, failure.RPCCode
			return
		}
	}
}

func (x exchangeTrace) recordReply(in receivedReply) {
	if x.Trace == nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.exchange.Took = time.Since(x.began) - x.exchange.At
	if in.reply != nil {
		x.exchange.Received = int64(len(in.reply.Result))
	}
}

type tracedBody struct {
	io.ReadCloser
	trace exchangeTrace
}

func (b tracedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.trace.recordRead(n)
	return n, err
}

type tracedReadyBody struct {
	tracedBody
	readyBody
}
