package toolsync_test

import (
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/mcp/mcptest"
)

// Not parallel: it counts what the whole process uses. The first crowd is there for what is kept on purpose: connections to the
// database, prepared statements.
func TestCrowdsOfHungServersLeaveNothingBehind(t *testing.T) {
	b := newBundle(t)
	deaf, err := net.Listen("tcp", "127.0.0.1:0") // never accepts
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = deaf.Close() })
	stops := func(w http.ResponseWriter, r *http.Request, c mcptest.Call) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: {")
		_ = http.NewResponseController(w).Flush()
		mcptest.Hang(w, r, c)
	}
	urls := []string{
		"http://" + deaf.Addr().String(),
		upstream(t, mcptest.Script{On: map[string]mcptest.Handler{"initialize": mcptest.Hang, "server/discover": mcptest.Hang}}).URL,
		upstream(t, mcptest.Script{On: map[string]mcptest.Handler{"tools/list": mcptest.Hang}}).URL,
		upstream(t, mcptest.Script{On: map[string]mcptest.Handler{"tools/list": stops}}).URL,
	}
	var crowd []connectors.Connector
	for i := range 40 {
		crowd = append(crowd, b.to(t, urls[i%len(urls)], func(d *connectors.Draft) { d.Timeout = time.Second }))
	}
	b.hungSyncs(t, crowd)
	goroutines, files := inUse(t)
	for range 2 {
		b.hungSyncs(t, crowd)
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(10 * time.Second); ; <-tick.C {
		g, f := inUse(t)
		if g <= goroutines+10 && f <= files+10 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines and %d files in place of %d and %d", g, f, goroutines, files)
		}
	}
}

func (b *bundle) hungSyncs(t *testing.T, crowd []connectors.Connector) {
	t.Helper()
	began := time.Now()
	var syncs sync.WaitGroup
	for _, c := range crowd {
		syncs.Go(func() {
			if _, err := b.run(t, c); err == nil {
				t.Errorf("%s was synced", c.URL)
			}
		})
	}
	syncs.Wait()
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("took %v", took)
	}
}

func inUse(t *testing.T) (goroutines, files int) {
	t.Helper()
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("there is no /proc here")
	}
	return runtime.NumGoroutine(), len(open)
}
