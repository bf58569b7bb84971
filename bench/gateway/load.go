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

// target is one of the measured servers.
type target struct {
	name   string
	url    string
	token  string
	tool   string
	server *serverProcess
}

type callKind struct {
	name      string
	size      int // bytes of the result
	sse       bool
	list      bool   // tools/list instead of tools/call
	noteBytes int    // additional bytes of arguments
	operation string // of the HTTP API in place of the MCP server's tool; empty: the tool
}

// loadGenerator makes calls to a target.
type loadGenerator struct {
	client     *http.Client
	workers    int
	prose      bool         // results are prose
	lastNumber atomic.Int64 // call numbers are unique
}

func newLoad(workers int, prose bool) *loadGenerator {
	return &loadGenerator{workers: workers, prose: prose, client: &http.Client{
		Transport: &http.Transport{MaxIdleConns: 4 * workers, MaxIdleConnsPerHost: 2 * workers, DisableCompression: true},
		Timeout:   time.Minute,
	}}
}

// run makes n calls and checks every reply. Call numbers detect lost and swapped replies.
func (l *loadGenerator) run(ctx context.Context, s target, t callKind, n int) (time.Duration, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var remaining atomic.Int64
	remaining.Store(int64(n))
	began := time.Now()
	var workers sync.WaitGroup
	for range l.workers {
		workers.Go(func() {
			var w callWorker
			for remaining.Add(-1) >= 0 && ctx.Err() == nil {
				if err := w.makeCall(ctx, l, s, t, l.lastNumber.Add(1)); err != nil {
					cancel(fmt.Errorf("%s, %s: %w", s.name, t.name, err))
				}
			}
		})
	}
	workers.Wait()
	return time.Since(began), context.Cause(ctx)
}

// callWorker makes calls one after the other and reuses its buffers.
type callWorker struct{ body, reply bytes.Buffer }

const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`

func (w *callWorker) makeCall(ctx context.Context, l *loadGenerator, s target, t callKind, n int64) error {
	w.writeRequest(s, t, n)
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
	return w.checkReply(response.StatusCode, t, n, l.prose)
}

func (w *callWorker) writeRequest(s target, t callKind, n int64) {
	w.body.Reset()
	method := "tools/call"
	if t.list {
		method = "tools/list"
	}
	fmt.Fprintf(&w.body, `{"jsonrpc":"2.0","id":%d,"method":"%s","params":{`, n, method)
	if !t.list {
		fmt.Fprintf(&w.body, `"name":"%s","arguments":{"n":%d,"size":%d,"sse":%t`, s.tool, n, t.size, t.sse)
		if t.noteBytes > 0 {
			fmt.Fprintf(&w.body, `,"note":"%s"`, bytes.Repeat([]byte("x"), t.noteBytes))
		}
		w.body.WriteString(`},`)
	}
	w.body.WriteString(modernMeta + `}}`)
}

func (w *callWorker) checkReply(status int, t callKind, n int64, prose bool) error {
	got := w.reply.Bytes()
	fail := func(reason string) error {
		return fmt.Errorf("call %d: %s: status %d, %d bytes: %.300s", n, reason, status, len(got), got)
	}
	switch {
	case status != http.StatusOK:
		return fail("refused")
	case !bytes.Contains(got, []byte(`"id":`+strconv.FormatInt(n, 10))):
		return fail("another id")
	case t.list && !bytes.Contains(got, []byte(`"tools":[`)):
		return fail("no list")
	case !t.list && !bytes.Contains(got, resultText(n, t.size, prose)):
		return fail("another result")
	}
	return nil
}
