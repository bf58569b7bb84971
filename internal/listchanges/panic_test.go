package listchanges_test

import (
	"testing"

	"patchbay/internal/connectors"
	"patchbay/internal/safe"
	"patchbay/internal/testing/fixture"
	"patchbay/internal/testing/paniclog"
)

// The loop panics that claims and checks streams.
func TestLoop_PanicKeepsStreams(t *testing.T) {
	t.Parallel()
	panics := paniclog.Start()
	for _, function := range []string{"(*Manager).reviewRows", "(*Manager).checkStreams", "(*Manager).claimStreams"} {
		t.Run(function, func(t *testing.T) {
			t.Parallel()
			p := start(t, fixture.New(t))
			up := serve(t, false)
			c := p.addConnector(t, up.url)
			p.waitState(t, c, connectors.ListenListening, "")
			waitForPanic := p.PanicBelow(t, function, 1)
			other := p.addConnector(t, serve(t, false).url)
			waitForPanic()
			p.waitState(t, other, connectors.ListenListening, "")
			up.addTool("more")
			if run := p.runQueued(t, c); run.Counts.Added != 1 {
				t.Errorf("the next change: %+v", run)
			}
			if n := up.opened.Load(); n != 1 {
				t.Errorf("the stream was opened %d times", n)
			}
			panics.Want(t, safe.Background, function)
		})
	}
}

// A stream panics while it is opened.
func TestStream_PanicReopensIt(t *testing.T) {
	t.Parallel()
	panics := paniclog.Start()
	p := start(t, fixture.New(t))
	other, up := serve(t, false), serve(t, false)
	healthy := p.addConnector(t, other.url)
	p.waitState(t, healthy, connectors.ListenListening, "")
	waitForPanic := p.PanicBelow(t, "(*serverStream).openAndListen", 1)
	c := p.addConnector(t, up.url)
	waitForPanic()
	p.waitState(t, c, connectors.ListenListening, "")
	up.addTool("more")
	if run := p.runQueued(t, c); run.Counts.Added != 1 {
		t.Errorf("the next change: %+v", run)
	}
	if n := other.opened.Load(); n != 1 {
		t.Errorf("the stream of another server was opened %d times", n)
	}
	panics.Want(t, safe.Upstream, "(*serverStream).openAndListen")
}

// The sync of a change panics while it is queued.
func TestListChanged_PanicQueuesTheSyncAgain(t *testing.T) {
	t.Parallel()
	panics := paniclog.Start()
	p := start(t, fixture.New(t))
	up := serve(t, false)
	c := p.addConnector(t, up.url)
	p.waitState(t, c, connectors.ListenListening, "")
	waitForPanic := p.PanicBelow(t, "(*serverStream).queueSync", 1)
	up.addTool("more")
	waitForPanic()
	if run := p.runQueued(t, c); run.Counts.Added != 1 {
		t.Errorf("the change: %+v", run)
	}
	if n := up.opened.Load(); n != 1 {
		t.Errorf("the stream was opened %d times", n)
	}
	panics.Want(t, safe.Sync, "(*serverStream).queueSync")
}
