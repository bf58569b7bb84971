package listchanges

import (
	"context"
	"log/slog"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/safe"
	"patchbay/internal/store"
)

const (
	maxUnchanged    = 10 // notifications without a change, in a row
	maxGapDoublings = 5  // of the gap, one each time
	queueTimeout    = 10 * time.Second
	queueRetryDelay = 2 * time.Second // after a failure to queue
	notifyInterval  = time.Second     // between two notices of a list to agents
	// missedSyncInterval is the time between two syncs for missed changes of a stream, which a proxy may end every
	// minute.
	missedSyncInterval = 10 * time.Minute
)

// listKind is a list that can change.
type listKind int

const (
	kindTools listKind = iota
	kindPrompts
	kindResources
	kindMissed // any list may have changed without a stream
	numKinds
)

func toListKind(method string) (listKind, bool) {
	switch method {
	case "notifications/tools/list_changed":
		return kindTools, true
	case "notifications/prompts/list_changed":
		return kindPrompts, true
	case "notifications/resources/list_changed":
		return kindResources, true
	}
	return 0, false
}

// listChanges are the changes that a server notified, and the syncs for them. A sync reads all lists, but each
// list has its own gap, so that prompts which change right after the tools do not wait.
type listChanges struct {
	notified     int // notifications since they were recorded
	lastNotified time.Time
	pending      [numKinds]bool
	notBefore    [numKinds]time.Time // earliest time of the next sync
	timer        *time.Timer         // nil: not scheduled

	lastNotifiedAgents [numKinds]time.Time   // last notice to agents
	notifyTimers       [numKinds]*time.Timer // of the next notice; nil: not scheduled
	queueing           bool                  // a sync is being queued
	ended              bool                  // the stream has ended

	unchanged int                   // syncs in a row that found no change
	lastRun   *connectors.SyncRunID // last queued run; nil: none
	listsHash string                // hash of all lists when it was queued
}

// nextDue returns when the next sync may be queued; ok is false if none is pending.
func (c *listChanges) nextDue() (when time.Time, ok bool) {
	for l, waits := range c.pending {
		if waits && (!ok || c.notBefore[l].Before(when)) {
			when, ok = c.notBefore[l], true
		}
	}
	return when, ok
}

// onListChanged schedules a sync, at once or after the list's gap.
func (s *serverStream) onListChanged(l listKind) {
	s.manager.updateStats(func(s *Stats) { s.Notified++ })
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changes.notified, s.changes.lastNotified = s.changes.notified+1, time.Now()
	s.changes.pending[l] = true
	s.notifyAgents(l)
	s.scheduleSync()
}

// notifyAgents notifies agents of this server's own address, at most once a notifyInterval for each list. The caller holds
// mu.
func (s *serverStream) notifyAgents(l listKind) {
	c := &s.changes
	if c.ended || c.notifyTimers[l] != nil {
		return
	}
	wait := time.Until(c.lastNotifiedAgents[l].Add(notifyInterval))
	c.notifyTimers[l] = time.AfterFunc(max(0, wait), func() {
		defer safe.Recover(safe.Timer)
		s.manager.runInBackground(func() {
			s.mu.Lock()
			c.notifyTimers[l], c.lastNotifiedAgents[l] = nil, time.Now()
			over := c.ended
			s.mu.Unlock()
			if over {
				return
			}
			ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), queueTimeout)
			defer cancel()
			if err := s.tenantStore().Syncs().NotifyListChanged(ctx, s.owner.ID, noticeKinds[l]); err != nil {
				s.manager.o.Log.WarnContext(ctx, "list change not sent to agents", slog.String("connector_id", s.owner.ID.String()), slog.Any("error", err))
			}
		})
	})
}

var noticeKinds = [kindMissed]string{store.ChangeTools, store.NoticePrompts, store.NoticeResources}

// scheduleSync sets the timer for the next sync. The caller holds mu.
func (s *serverStream) scheduleSync() {
	c := &s.changes
	due, waits := c.nextDue()
	if !waits || c.queueing || c.ended {
		return
	}
	if c.timer != nil {
		c.timer.Stop()
	}
	c.timer = time.AfterFunc(time.Until(due), safe.Func(safe.Timer, func() { s.manager.runInBackground(s.queueDue) }))
}

// queueDue queues a sync for the pending changes and starts their gaps.
func (s *serverStream) queueDue() {
	handled, isDue := s.takeDue()
	if !isDue {
		return
	}
	err := safe.Try(safe.Sync, s.queueSync)()
	if err == nil {
		s.sendListsEvent(handled)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &s.changes
	c.queueing = false
	gap := s.manager.o.MinSyncInterval << min(c.unchanged, maxGapDoublings)
	if err != nil {
		gap = min(gap, queueRetryDelay)
	}
	next := time.Now().Add(gap)
	for l, isHandled := range handled {
		if isHandled {
			c.notBefore[l] = next
			c.pending[l] = c.pending[l] || err != nil
		}
	}
	if err == nil && handled[kindMissed] {
		c.notBefore[kindMissed] = time.Now().Add(missedSyncInterval)
	}
	if handled == ([numKinds]bool{kindMissed: true}) {
		c.lastRun = nil // without a notification the sync does not count
	}
	s.scheduleSync()
}

// takeDue takes the pending changes if their sync is due.
func (s *serverStream) takeDue() (handled [numKinds]bool, isDue bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &s.changes
	if due, waits := c.nextDue(); !waits || c.queueing || c.ended || time.Now().Before(due) {
		return handled, false
	}
	c.queueing = true
	handled, c.pending = c.pending, [numKinds]bool{}
	return handled, true
}

// queueLast queues the pending sync when the stream has ended.
func (s *serverStream) queueLast() {
	pending, waits, end := s.stopTimers()
	if waits && end != causeOff && end != causeLost {
		_ = s.queueSync() // a failure is logged; the connector's schedule remains
		s.sendListsEvent(pending)
	}
}

// stopTimers stops what is scheduled, and reports the pending lists, whether a sync is pending and why the stream ended.
func (s *serverStream) stopTimers() (pending [numKinds]bool, waits bool, end int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &s.changes
	c.ended = true
	if c.timer != nil {
		c.timer.Stop()
	}
	for _, timer := range c.notifyTimers {
		if timer != nil {
			timer.Stop()
		}
	}
	_, waits = c.nextDue()
	return c.pending, waits, s.cause.kind
}

// queueMissed schedules a sync for changes that may have been missed.
func (s *serverStream) queueMissed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changes.pending[kindMissed] = true
	s.scheduleSync()
}

// queueSync queues a run and records the notifications. After maxUnchanged notifications without a change it
// turns listening off.
func (s *serverStream) queueSync() error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), queueTimeout)
	defer cancel()
	err := s.queueAndRecord(ctx)
	if err != nil {
		s.manager.o.Log.WarnContext(ctx, "sync after a list change not queued", slog.String("tenant_id", s.owner.Tenant.String()),
			slog.String("connector_id", s.owner.ID.String()), slog.Any("error", err))
	}
	return err
}

func (s *serverStream) queueAndRecord(ctx context.Context) error {
	st := s.tenantStore()
	hash, err := st.Syncs().ListsHash(ctx, s.owner.ID)
	if err != nil {
		return err
	}
	unchanged := s.unchangedInRow(ctx, hash)
	if unchanged < maxUnchanged {
		run, err := st.Syncs().Queue(ctx, store.NewRun{ConnectorID: s.owner.ID, Trigger: connectors.TriggerListChanged})
		if err != nil {
			return err
		}
		s.manager.updateStats(func(s *Stats) { s.Syncs++ })
		s.mu.Lock()
		s.changes.lastRun = &run.ID
		s.mu.Unlock()
	}
	s.mu.Lock()
	c := &s.changes
	notified, lastNotified := c.notified, c.lastNotified
	c.notified, c.unchanged, c.listsHash = 0, unchanged, hash
	s.mu.Unlock()
	if err := st.Syncs().RecordListChanges(ctx, s.streamKey(), store.ListChanges{Times: notified, At: lastNotified, Unchanged: unchanged, SyncQueued: unchanged < maxUnchanged}); err != nil {
		return err
	}
	if unchanged >= maxUnchanged {
		s.endWithCause(endCause{kind: causeOff, reason: connectors.ListenUnchanged})
	}
	return nil
}

// unchangedInRow returns the number of syncs in a row without a change, given the current hash of all lists.
// Failed and unfinished syncs do not count.
func (s *serverStream) unchangedInRow(ctx context.Context, hash string) int {
	s.mu.Lock()
	c := s.changes
	s.mu.Unlock()
	if c.lastRun == nil {
		return c.unchanged
	}
	run, err := s.tenantStore().Syncs().Get(ctx, *c.lastRun)
	switch {
	case err != nil || run.State != connectors.SyncOK:
		return c.unchanged
	case hash != c.listsHash:
		return 0
	}
	return c.unchanged + 1
}
