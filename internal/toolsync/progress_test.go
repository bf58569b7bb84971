package toolsync_test

import (
	"slices"
	"testing"

	"patchbay/internal/mcp/mcptest"
	"patchbay/internal/toolsync"
)

func TestWatch_SeesARunFromStartToEnd(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	c := b.addConnector(t, newUpstream(t, mcptest.Script{Tools: mcptest.Tools(3), PageSize: 2, SessionID: "abc"}).URL)
	events, stop := b.sync.Watch(b.Tenant)
	theirs, stopTheirs := b.sync.Watch(b.Other)

	run := b.mustSync(t, c)

	stop()
	stopTheirs()
	var phases []string
	var last toolsync.Progress
	pages := 0
	for p := range events {
		if p.Connector != c.ID || p.Run != run.ID {
			t.Errorf("progress of something else: %+v", p)
		}
		phases = append(phases, p.Phase)
		pages = max(pages, p.Page)
		last = p
	}
	if !last.Done || pages != 2 {
		t.Errorf("last = %+v, pages = %d", last, pages)
	}
	for _, want := range []string{"connect", "initialize", "list"} {
		if !slices.Contains(phases, want) {
			t.Errorf("phases = %v lack %q", phases, want)
		}
	}
	if p, ok := <-theirs; ok {
		t.Errorf("another tenant saw %+v", p)
	}
}

func TestWatch_SlowWatcherStillGetsDone(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	up := newUpstream(t, mcptest.Script{Tools: mcptest.Tools(100), PageSize: 1})
	c := b.addConnector(t, up.URL)
	events, stop := b.sync.Watch(b.Tenant)

	b.mustSync(t, c) // more updates than the unread buffer holds

	stop()
	n, last := 0, toolsync.Progress{}
	for p := range events {
		n, last = n+1, p
	}
	if !last.Done || n > 64 {
		t.Errorf("%d updates, the last is %+v", n, last)
	}
}
