package jobs_test

import (
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/jobs"
	"patchbay/internal/mcp/mcptest"
	"patchbay/internal/toolsync"
)

// startWithoutPolls works only announced jobs.
func (b *bundle) startWithoutPolls(t *testing.T) *jobs.Runner {
	t.Helper()
	r, err := jobs.NewPolling(jobs.Options{Pool: b.Pool, ListenPool: b.Pool, Syncer: b.sync, Due: b.St.System().Syncs().DueShards}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestSnoozeNotifier_WakesASnoozedJob(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	stuck := newHungServer(t)
	c := b.addConnector(t, stuck.URL)
	events, unwatch := b.sync.Watch(b.Tenant)
	defer unwatch()
	r := b.startWithoutPolls(t)
	defer stop(t, r)
	defer stuck.free()
	wentBack, unsubscribe := r.WatchSnoozes()
	defer unsubscribe()
	first := make(chan error, 1)
	go func() {
		_, err := b.sync.Sync(t.Context(), b.Tenant, toolsync.Request{Connector: connectors.Ref(c.Slug), Trigger: connectors.TriggerManual})
		first <- err
	}()
	<-stuck.asked
	second := b.queue(t, c)
	<-wentBack
	stuck.free()
	if err := <-first; err != nil {
		t.Fatal(err)
	}
	waitDone(t, events, second.ID)
}

func TestNotifications_OfOneQueueAllArrive(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	up := mcptest.Start(t, mcptest.Script{Tools: mcptest.Tools(1)})
	var all []connectors.Connector
	for range 6 {
		all = append(all, b.addConnector(t, up.URL))
	}
	events, unwatch := b.sync.Watch(b.Tenant)
	defer unwatch()
	defer stop(t, b.startWithoutPolls(t))
	b.queue(t, all[0])
	waitSynced(t, events, all[0].ID) // the workers listen
	var ids []connectors.ConnectorID
	for _, c := range all { // almost within River's debounce of a tenth of a second
		b.queue(t, c)
		ids = append(ids, c.ID)
	}
	waitSynced(t, events, ids...)
}
