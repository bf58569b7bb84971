package listening

import (
	"context"
	"log/slog"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/safe"
	"patchbay/internal/store"
)

const (
	mostVain   = 10 // changes that were none, in a row
	mostDouble = 5  // how often they double the gap
	queueTime  = 10 * time.Second
	retryTime  = 2 * time.Second // after a sync that could not be queued
	passGap    = time.Second     // between two notices of one list to agents
	// catchGap is between two syncs for what nobody heard on one stream: what stands between us and a server may end it each minute.
	catchGap = 10 * time.Minute
)

// list is one of those that a server says have changed.
type list int

const (
	tools list = iota
	prompts
	resources
	unheard // whatever has changed while nobody listened
	lists   // how many there are
)

func listOf(method string) (list, bool) {
	switch method {
	case "notifications/tools/list_changed":
		return tools, true
	case "notifications/prompts/list_changed":
		return prompts, true
	case "notifications/resources/list_changed":
		return resources, true
	}
	return 0, false
}

// changes is what a server said has changed, and what came of it. A sync reads all lists; but each list has a gap of its own, so that
// prompts which change right after the tools are not left waiting.
type changes struct {
	said  int       // how often, since it was written down
	at    time.Time // the last time
	waits [lists]bool
	next  [lists]time.Time // from when on a sync may be queued for it
	timer *time.Timer      // nil: none yet

	passed [lists]time.Time   // when agents were told last
	passes [lists]*time.Timer // that they will be; nil: not
	busy   bool               // a sync is being queued
	over   bool               // the stream has ended

	vain int                   // how often in a row nothing had changed after all
	last *connectors.SyncRunID // that was queued; nil: none yet
	hash string                // of all lists, as it was then
}

// due tells when the next sync may be queued; ok is false where nothing waits for one.
func (c *changes) due() (at time.Time, ok bool) {
	for l, waits := range c.waits {
		if waits && (!ok || c.next[l].Before(at)) {
			at, ok = c.next[l], true
		}
	}
	return at, ok
}

// changed notes that a list has changed: a sync is queued at once, or when the list's gap is over.
func (h *hold) changed(l list) {
	h.k.count(func(s *Stats) { s.Notified++ })
	h.mu.Lock()
	defer h.mu.Unlock()
	h.changes.said, h.changes.at = h.changes.said+1, time.Now()
	h.changes.waits[l] = true
	h.passOn(l)
	h.plan()
}

// passOn has agents that listen to this server alone hear what it said, a moment later where it says it often. mu is held.
func (h *hold) passOn(l list) {
	c := &h.changes
	if c.over || c.passes[l] != nil {
		return
	}
	wait := time.Until(c.passed[l].Add(passGap))
	c.passes[l] = time.AfterFunc(max(0, wait), func() {
		defer safe.Recover(safe.Timer)
		h.k.do(func() {
			h.mu.Lock()
			c.passes[l], c.passed[l] = nil, time.Now()
			over := c.over
			h.mu.Unlock()
			if over {
				return
			}
			ctx, cancel := context.WithTimeout(context.WithoutCancel(h.ctx), queueTime)
			defer cancel()
			if err := h.door().PassOn(ctx, h.at.ID, notices[l]); err != nil {
				h.k.o.Log.WarnContext(ctx, "what a server said is not passed on", slog.String("connector_id", h.at.ID.String()), slog.Any("error", err))
			}
		})
	})
}

var notices = [unheard]string{store.NoticeTools, store.NoticePrompts, store.NoticeResources}

// plan sets the timer for the next sync. mu is held.
func (h *hold) plan() {
	c := &h.changes
	due, waits := c.due()
	if !waits || c.busy || c.over {
		return
	}
	if c.timer != nil {
		c.timer.Stop()
	}
	c.timer = time.AfterFunc(time.Until(due), safe.Func(safe.Timer, func() { h.k.do(h.answer) }))
}

// answer queues a sync for what has changed, and opens the gaps.
func (h *hold) answer() {
	h.mu.Lock()
	c := &h.changes
	if due, waits := c.due(); !waits || c.busy || c.over || time.Now().Before(due) {
		h.mu.Unlock()
		return
	}
	c.busy = true
	waited := c.waits
	c.waits = [lists]bool{}
	h.mu.Unlock()

	err := safe.Try(safe.Sync, h.sync)()
	h.mu.Lock()
	defer h.mu.Unlock()
	c.busy = false
	gap := h.k.o.Gap << min(c.vain, mostDouble)
	if err != nil {
		gap = min(gap, retryTime)
	}
	next := time.Now().Add(gap)
	for l, was := range waited {
		if was {
			c.next[l] = next
			c.waits[l] = c.waits[l] || err != nil
		}
	}
	if err == nil && waited[unheard] {
		c.next[unheard] = time.Now().Add(catchGap)
	}
	if waited == ([lists]bool{unheard: true}) {
		c.last = nil // the server said nothing, so that it was not in vain
	}
	h.plan()
}

// lastWord queues the sync that still waits when the stream has ended.
func (h *hold) lastWord() {
	h.mu.Lock()
	c := &h.changes
	c.over = true
	if c.timer != nil {
		c.timer.Stop()
	}
	for _, pass := range c.passes {
		if pass != nil {
			pass.Stop()
		}
	}
	_, waits := c.due()
	by := h.cause.kind
	h.mu.Unlock()
	if waits && by != endOff && by != endLost {
		_ = h.sync() // it is said where it fails, and the connector's own schedule is left
	}
}

// catchUp has the lists read that may have changed while nobody listened.
func (h *hold) catchUp() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.changes.waits[unheard] = true
	h.plan()
}

// sync queues a run, and writes down what was said. A server that said too often that something had changed, where nothing had, is not
// listened to any more.
func (h *hold) sync() error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(h.ctx), queueTime)
	defer cancel()
	err := h.queue(ctx)
	if err != nil {
		h.k.o.Log.WarnContext(ctx, "sync of changed lists not queued", slog.String("tenant_id", h.at.Tenant.String()),
			slog.String("connector_id", h.at.ID.String()), slog.Any("error", err))
	}
	return err
}

func (h *hold) queue(ctx context.Context) error {
	door := h.door()
	hash, err := door.ListsHash(ctx, h.at.ID)
	if err != nil {
		return err
	}
	vain := h.inVain(ctx, hash)
	if vain < mostVain {
		run, err := door.QueueSync(ctx, store.NewRun{ConnectorID: h.at.ID, Trigger: connectors.TriggerListChanged})
		if err != nil {
			return err
		}
		h.k.count(func(s *Stats) { s.Syncs++ })
		h.mu.Lock()
		h.changes.last = &run.ID
		h.mu.Unlock()
	}
	h.mu.Lock()
	c := &h.changes
	said, at := c.said, c.at
	c.said, c.vain, c.hash = 0, vain, hash
	h.mu.Unlock()
	if err := door.HearStream(ctx, h.stream(), store.Heard{Times: said, At: at, Vain: vain, Asked: vain < mostVain}); err != nil {
		return err
	}
	if vain >= mostVain {
		h.endBecause(cause{kind: endOff, reason: connectors.ListenVain})
	}
	return nil
}

// inVain is how often in a row nothing had changed, given the hash of all lists as they are now. A sync that has not ended, or failed, tells
// nothing.
func (h *hold) inVain(ctx context.Context, hash string) int {
	h.mu.Lock()
	c := h.changes
	h.mu.Unlock()
	if c.last == nil {
		return c.vain
	}
	run, err := h.door().SyncRun(ctx, *c.last)
	switch {
	case err != nil || run.State != connectors.SyncOK:
		return c.vain
	case hash != c.hash:
		return 0
	}
	return c.vain + 1
}
