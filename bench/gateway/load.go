package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// side is where calls go.
type side struct {
	name   string
	url    string
	token  string
	tool   string
	server *process
}

// task is a kind of call.
type task struct {
	name string
	size int // of the result
	sse  bool
	list bool // tools/list in place of a call
	note int  // bytes of arguments beside the numbers
}

// load makes calls on one side.
type load struct {
	client  *http.Client
	workers int
	prose   bool         // results are
	next    atomic.Int64 // the number of the last call; each is used once
}

func newLoad(workers int, prose bool) *load {
	return &load{workers: workers, prose: prose, client: &http.Client{
		Transport: &http.Transport{MaxIdleConns: 4 * workers, MaxIdleConnsPerHost: 2 * workers, DisableCompression: true},
		Timeout:   time.Minute,
	}}
}

// run makes n calls and checks every reply. The numbers of the calls tell whether one was lost, or swapped with another.
func (l *load) run(ctx context.Context, s side, t task, n int) (time.Duration, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var left atomic.Int64
	left.Store(int64(n))
	began := time.Now()
	var workers sync.WaitGroup
	for range l.workers {
		workers.Go(func() {
			var w worker
			for left.Add(-1) >= 0 && ctx.Err() == nil {
				if err := w.call(ctx, l, s, t, l.next.Add(1)); err != nil {
					cancel(fmt.Errorf("%s, %s: %w", s.name, t.name, err))
				}
			}
		})
	}
	workers.Wait()
	return time.Since(began), context.Cause(ctx)
}

// worker makes one call after the other, in memory that it uses again.
type worker struct{ body, reply bytes.Buffer }

const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`

func (w *worker) call(ctx context.Context, l *load, s side, t task, n int64) error {
	w.write(s, t, n)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, bytes.NewReader(w.body.Bytes()))
	if err != nil {
		return err
	}
	r.Header = http.Header{
		"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
		"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"tools/list"}, "Authorization": {"Bearer " + s.token},
	}
	if !t.list {
		r.Header["Mcp-Method"], r.Header["Mcp-Name"] = []string{"tools/call"}, []string{s.tool}
	}
	response, err := l.client.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	w.reply.Reset()
	if _, err := io.Copy(&w.reply, response.Body); err != nil {
		return err
	}
	return w.check(response.StatusCode, t, n, l.prose)
}

func (w *worker) write(s side, t task, n int64) {
	w.body.Reset()
	method := "tools/call"
	if t.list {
		method = "tools/list"
	}
	fmt.Fprintf(&w.body, `{"jsonrpc":"2.0","id":%d,"method":"%s","params":{`, n, method)
	if !t.list {
		fmt.Fprintf(&w.body, `"name":"%s","arguments":{"n":%d,"size":%d,"sse":%t`, s.tool, n, t.size, t.sse)
		if t.note > 0 {
			fmt.Fprintf(&w.body, `,"note":"%s"`, bytes.Repeat([]byte("x"), t.note))
		}
		w.body.WriteString(`},`)
	}
	w.body.WriteString(modernMeta + `}}`)
}

func (w *worker) check(status int, t task, n int64, prose bool) error {
	got := w.reply.Bytes()
	wrong := func(what string) error {
		return fmt.Errorf("call %d: %s: status %d, %d bytes: %.300s", n, what, status, len(got), got)
	}
	switch {
	case status != http.StatusOK:
		return wrong("refused")
	case !bytes.Contains(got, []byte(`"id":`+strconv.FormatInt(n, 10))):
		return wrong("another id")
	case t.list && !bytes.Contains(got, []byte(`"tools":[`)):
		return wrong("no list")
	case !t.list && !bytes.Contains(got, resultText(n, t.size, prose)):
		return wrong("another result")
	}
	return nil
}
