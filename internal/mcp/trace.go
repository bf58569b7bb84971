package mcp

import (
	"io"
	"net/http"
	"sync"
	"time"
)

// Exchange is one request to a server and what came back, for people who look at how a sync went. It holds nothing of what was said: no
// address, no header, no body.
type Exchange struct {
	Phase    Phase
	Method   string // of HTTP; empty: a message to a program
	Call     string // the MCP method; empty: none
	Page     int    // of a tool list, from 1 on; 0: none
	Era      Era
	At       time.Duration // since the trace began
	Took     time.Duration // to the last byte that was read of the answer
	Status   int           // of HTTP; 0: no answer, or a program's
	Sent     int64         // bytes of the body
	Received int64         // likewise, of the answer
	Reason   Reason        // why it did not bring what it was for; empty: it did
	RPCCode  int           // of a JSON-RPC error; 0: there was none

	id int
}

// maxExchanges bounds a trace: of more the first and the last ones are kept.
const (
	maxExchanges  = 64
	lastExchanges = 16
)

// Trace collects the exchanges of one sync, over as many sessions as it takes. The zero value is ready; nil collects nothing.
type Trace struct {
	mu      sync.Mutex // guards what follows
	began   time.Time
	list    []*Exchange
	left    int // exchanges that are not kept
	listing int // pages of the tool list that arrived
}

// Exchanges are what was collected, in the order of their beginnings, and how many others there were.
func (t *Trace) Exchanges() (list []Exchange, left int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	list = make([]Exchange, len(t.list))
	for i, e := range t.list {
		list[i] = *e
	}
	return list, t.left
}

// traced is an exchange under way; the zero value is none.
type traced struct {
	*Trace
	e *Exchange
}

func (t *Trace) begin(method string, m outgoing, in Era) traced {
	if t == nil {
		return traced{}
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
		t.listing = 0
	case PhaseList:
		e.Page = t.listing + 1
	}
	if len(t.list) == maxExchanges {
		t.list = append(t.list[:maxExchanges-lastExchanges], t.list[maxExchanges-lastExchanges+1:]...)
		t.left++
	}
	t.list = append(t.list, e)
	return traced{Trace: t, e: e}
}

// answered takes down the head of an answer, and follows its body.
func (x traced) answered(resp *http.Response, err error) {
	if x.Trace == nil {
		return
	}
	x.mu.Lock()
	x.e.Took = time.Since(x.began) - x.e.At
	if err == nil {
		x.e.Status = resp.StatusCode
	}
	x.mu.Unlock()
	if err != nil || resp.Body == http.NoBody {
		return
	}
	body := tracedBody{ReadCloser: resp.Body, of: x}
	if p, ok := resp.Body.(prompt); ok {
		resp.Body = tracedPrompt{tracedBody: body, prompt: p}
	} else {
		resp.Body = body
	}
}

// read takes down that bytes came.
func (x traced) read(n int) {
	if n == 0 {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.e.Received += int64(n)
	x.e.Took = time.Since(x.began) - x.e.At
}

// ended takes down how the last exchange of a message came out, whatever it took to bring it there.
func (t *Trace) ended(m outgoing, failure *Error) {
	if t == nil || failure == nil && m.phase != PhaseList {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if failure == nil {
		t.listing++
		return
	}
	for i := len(t.list) - 1; i >= 0; i-- {
		if e := t.list[i]; e.id == m.id && e.Call == m.method {
			e.Reason, e.RPCCode = failure.Reason, failure.RPCCode
			return
		}
	}
}

// said takes down a message to a program and its answer.
func (x traced) said(in incoming) {
	if x.Trace == nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.e.Took = time.Since(x.began) - x.e.At
	if in.reply != nil {
		x.e.Received = int64(len(in.reply.Result))
	}
}

// tracedBody is the body of an answer that is counted as it is read.
type tracedBody struct {
	io.ReadCloser
	of traced
}

func (b tracedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.of.read(n)
	return n, err
}

// tracedPrompt is one that can tell whether reading it would wait.
type tracedPrompt struct {
	tracedBody
	prompt
}
