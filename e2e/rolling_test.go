//go:build e2e

package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"patchbay/internal/testing/pgtest"
)

// TestARollingRestartLosesNothing restarts three replicas in turn under load: API reads, calls, syncs, and a
// listener, through a proxy that follows /readyz. Every request succeeds.
func TestARollingRestartLosesNothing(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	front := newProxy(t)
	h.env = append(h.env, "PATCHBAY_KEYSET="+h.run("keys", "new"), "DATABASE_URL="+pgtest.URL(t),
		"PATCHBAY_DRAIN_TIME=1s", "PATCHBAY_BASE_URL="+front.URL)
	replicas := make([]*server, 3)
	for i := range replicas {
		replicas[i] = h.replica(i)
		front.add(replicas[i].base)
	}
	eventually(t, front.allReady(3))

	c := client{t: t, base: front.URL, key: h.run("apikey", "create", "--tenant", "default", "--role", "owner", "--name", "tests")}
	c.must(http.StatusOK, http.MethodPatch, "/api/v1/tenant", object{"call_history": "full"})
	c.must(http.StatusCreated, http.MethodPost, "/api/v1/connectors", object{"name": "Counter", "url": newCounter(t)})
	c.must(http.StatusOK, http.MethodPost, "/connectors/counter/sync_tools", nil)
	slow := h.devMCP("--delay", "100ms")
	for _, name := range []string{"Waited", "Queued"} {
		c.must(http.StatusCreated, http.MethodPost, "/api/v1/connectors", object{"name": name, "url": slow + "/slow"})
	}

	load := newLoad(c)
	for i, old := range replicas {
		done := load.count()
		if code := old.terminate(); code != 0 {
			t.Errorf("replica %d ended with %d", i, code)
		}
		front.drop(old.base)
		replicas[i] = h.replica(i)
		front.add(replicas[i].base)
		eventually(t, front.allReady(3))
		if load.count() == done {
			t.Error("nothing was done while a replica was restarted")
		}
	}
	answers := load.end()
	t.Logf("%d calls, %d reads, %d syncs, %d queued syncs, %d streams", len(answers), load.reads.Load(), load.syncs.Load(), load.queued.Load(), load.streams.Load())
	for i, answer := range answers {
		if !answer.ok {
			t.Errorf("call %d was answered %+v", i+1, answer)
		}
	}
	eventually(t, func() error { return agrees(c, answers) })
	eventually(t, func() error { return allOK(c, "waited", int(load.syncs.Load())) })
	eventually(t, func() error { return allOK(c, "queued", int(load.queued.Load())) })
	if load.streams.Load() < 2 {
		t.Error("whoever listened was not sent elsewhere")
	}
}

// replica starts one of several servers of an installation, and reads from its log where it listens.
func (h *home) replica(i int) *server {
	h.t.Helper()
	its := *h
	its.env = append(append([]string{}, h.env...), "PATCHBAY_DATA_DIR="+filepath.Join(h.dir, "replica"+strconv.Itoa(i)))
	s := its.launch()
	line, ok := s.stderr.wait(`"server started"`, s.exited)
	var started struct{ Addr string }
	if !ok || json.Unmarshal([]byte(line), &started) != nil {
		h.t.Fatalf("replica %d does not start: %s", i, line)
	}
	s.base = "http://" + started.Addr
	return s
}

func (p *proxy) allReady(want int) func() error {
	return func() error {
		if n := p.ready(); n != want {
			return fmt.Errorf("%d replicas are ready", n)
		}
		return nil
	}
}

// load is what programs, agents and a listener do until it ends.
type load struct {
	c       client
	stop    chan struct{}
	workers sync.WaitGroup
	cut     context.CancelFunc // of the listener

	answers                       []told // by the number that was called with
	calls                         atomic.Int64
	reads, syncs, queued, streams atomic.Int64
}

func newLoad(c client) *load {
	c.t.Helper()
	listening, cut := context.WithCancel(c.t.Context())
	l := &load{c: c, stop: make(chan struct{}), cut: cut, answers: make([]told, 200_000)}
	a := c.hire("helper", "counter")
	session := a.session()
	l.again(func() { n := int(l.calls.Add(1)); l.answers[n-1] = a.count(n) })
	l.again(func() { l.ask(&l.reads, http.StatusOK, http.MethodGet, "/api/v1/connectors") })
	l.again(func() { l.ask(&l.syncs, http.StatusOK, http.MethodPost, "/connectors/waited/sync_tools") })
	l.again(func() {
		l.ask(&l.queued, http.StatusAccepted, http.MethodPost, "/connectors/queued/sync_tools?wait=false")
		eventually(c.t, func() error { return allOK(c, "queued", int(l.queued.Load())) })
	})
	l.again(func() {
		if status, _, r, err := a.try(c.t.Context(), "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, session...); status != http.StatusOK || r.Error != nil || err != nil {
			c.t.Errorf("a session's request is answered %d: %+v, %v", status, r.Error, err)
		}
	})
	l.workers.Go(func() {
		for listening.Err() == nil {
			l.listen(listening, a, session)
		}
	})
	return l
}

// again does something until the load ends.
func (l *load) again(do func()) {
	l.workers.Go(func() {
		for {
			select {
			case <-l.stop:
				return
			default:
				do()
			}
		}
	})
}

func (l *load) ask(done *atomic.Int64, want int, method, path string) {
	status, answer, err := l.c.try(method, path, nil)
	if err != nil || status != want {
		l.c.t.Errorf("%s %s: %d %v, %v", method, path, status, answer, err)
	}
	done.Add(1)
}

// listen takes an agent's stream until its end.
func (l *load) listen(ctx context.Context, a agent, session []string) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, a.base+"/mcp", nil)
	if err != nil {
		l.c.t.Error(err)
		return
	}
	req.Header.Set("Authorization", "Bearer "+a.token)
	req.Header.Set("Accept", "text/event-stream")
	for i := 0; i+1 < len(session); i += 2 {
		req.Header.Set(session[i], session[i+1])
	}
	res, err := localClient.Do(req)
	if err != nil {
		if ctx.Err() == nil {
			l.c.t.Errorf("listening: %v", err)
		}
		return
	}
	defer res.Body.Close()
	if l.streams.Add(1); res.StatusCode != http.StatusOK {
		l.c.t.Errorf("listening is answered %d", res.StatusCode)
	}
	_, _ = io.Copy(io.Discard, res.Body)
}

// session is one of an older era, as the headers of its requests.
func (a agent) session() []string {
	a.t.Helper()
	const version = "2025-11-25"
	_, h, r := a.send("/mcp", fmt.Sprintf(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"e2e","version":"1"}}}`, version))
	header := []string{"Mcp-Session-Id", h.Get("Mcp-Session-Id"), "Mcp-Protocol-Version", version}
	if status, _, _ := a.send("/mcp", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, header...); status != http.StatusAccepted {
		a.t.Fatalf("a session begins with %d: %+v", status, r)
	}
	return header
}

func (l *load) count() int64 { return l.calls.Load() }

// end ends it, and returns what each call was answered.
func (l *load) end() []told {
	close(l.stop)
	l.cut()
	l.workers.Wait()
	return l.answers[:l.calls.Load()]
}

// allOK is nil once a connector has as many runs, and each went well.
func allOK(c client, connector string, want int) error {
	runs := 0
	for path := "/api/v1/connectors/" + connector + "/sync_runs?limit=200"; path != ""; {
		_, page, err := c.try(http.MethodGet, path, nil)
		if err != nil {
			return err
		}
		items, _ := page["items"].([]any)
		for _, item := range items {
			if run, _ := item.(object); run["status"] != "ok" {
				return fmt.Errorf("a run is %v", run)
			}
		}
		runs += len(items)
		path = ""
		if cursor, more := page["next_cursor"].(string); more {
			path = "/api/v1/connectors/" + connector + "/sync_runs?limit=200&cursor=" + cursor
		}
	}
	if runs != want {
		return fmt.Errorf("%d runs of %s, want %d", runs, connector, want)
	}
	return nil
}
