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
	"patchbay/internal/safehttp"
	"patchbay/internal/testing/fixture"
	"patchbay/internal/toolsync"
)

// Not parallel: it counts resources of the whole process. With fifty syncs a kind of server, a leak would be
// far above few.
func TestScheduledSync_HungServersLeakNothing(t *testing.T) {
	const rounds, few = 5, 20
	b := &bundle{World: fixture.New(t)}
	var egress *safehttp.Policy
	b.sync = newSyncer(t, b.World, b.Instance, func(o *toolsync.Options) { egress = o.Egress })
	silent, err := net.Listen("tcp", "127.0.0.1:0") // never accepts
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = silent.Close() })
	stops := func(w http.ResponseWriter, r *http.Request, c mcptest.Call) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: {")
		_ = http.NewResponseController(w).Flush()
		mcptest.Hang(w, r, c)
	}
	urls := []string{
		"http://" + silent.Addr().String(),
		newUpstream(t, mcptest.Script{On: map[string]mcptest.Handler{"initialize": mcptest.Hang, "server/discover": mcptest.Hang}}).URL,
		newUpstream(t, mcptest.Script{On: map[string]mcptest.Handler{"tools/list": mcptest.Hang}}).URL,
		newUpstream(t, mcptest.Script{On: map[string]mcptest.Handler{"tools/list": stops}}).URL,
	}
	var hung []connectors.Connector
	for i := range 40 {
		hung = append(hung, b.addConnector(t, urls[i%len(urls)], func(d *connectors.Draft) { d.Timeout = time.Second }))
	}
	use := func() (goroutines, files int) {
		egress.Client().CloseIdleConnections() // idle on purpose, as the database's are
		b.Pool.Reset()
		return openResources(t)
	}
	goroutines, files := use()
	for range rounds {
		b.runHungSyncs(t, hung)
	}
	// Closing may take a moment.
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(time.Minute); ; <-tick.C {
		g, f := use()
		if g <= goroutines+few && f <= files+few {
			return
		}
		if time.Now().After(deadline) {
			stacks := make([]byte, 1<<20)
			t.Fatalf("%d goroutines and %d files in place of %d and %d\n%s", g, f, goroutines, files, stacks[:runtime.Stack(stacks, true)])
		}
	}
}

func (b *bundle) runHungSyncs(t *testing.T, hung []connectors.Connector) {
	t.Helper()
	var syncs sync.WaitGroup
	for _, c := range hung {
		syncs.Go(func() {
			if _, err := b.run(t, c); err == nil {
				t.Errorf("%s was synced", c.URL)
			}
		})
	}
	syncs.Wait()
}

func openResources(t *testing.T) (goroutines, files int) {
	t.Helper()
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		if runtime.GOOS == "linux" {
			t.Fatal(err)
		}
		t.Skip("/proc is of Linux")
	}
	return runtime.NumGoroutine(), len(open)
}
