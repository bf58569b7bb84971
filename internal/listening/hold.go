package listening

import (
	"context"
	"log/slog"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
	"patchbay/internal/fault"
	"patchbay/internal/mcp"
	"patchbay/internal/safe"
	"patchbay/internal/store"
	"patchbay/internal/toolsync"
)

// settleTime is for writing down how a stream ended.
const settleTime = 5 * time.Second

// hold is one stream of this process, from its claim to its end.
type hold struct {
	k   *Keeper
	at  store.OwnedConnector
	was store.ClaimedStream
	ctx context.Context //nolint:containedctx // the stream's life
	cut context.CancelFunc

	opened atomic.Int64 // when it was opened last, in Unix milliseconds; 0: not yet
	first  sync.Once    // opening
	host   string       // it counts for; empty: none yet

	mu      sync.Mutex // guards what follows
	cause   cause
	meter   meter
	changes changes
}

// cause is why we ended a stream.
type cause struct {
	kind   int
	reason connectors.ListenReason // of endOff
}

const (
	endNot   = iota // we did not
	endLost         // it is another's
	endStale        // it is not what it should be
	endOff          // the server misbehaves
)

func newHold(k *Keeper, at store.OwnedConnector, c store.ClaimedStream) *hold {
	h := &hold{k: k, at: at, was: c}
	h.changes.vain = c.Vain
	h.ctx, h.cut = context.WithCancel(k.life)
	return h
}

// end ends the stream. The first cause counts.
func (h *hold) end(kind int) { h.endBecause(cause{kind: kind}) }

func (h *hold) endBecause(c cause) {
	h.mu.Lock()
	if h.cause.kind == endNot {
		h.cause = c
	}
	h.mu.Unlock()
	h.cut()
}

func (h *hold) isOpen() bool { return h.opened.Load() != 0 }

// run opens the stream, hears what is said until it ends, and writes down how.
func (h *hold) run() {
	defer h.k.nudge()
	defer h.leave()
	err := safe.Try(safe.Upstream, h.listen)()
	h.cut()
	h.lastWord()
	if end, ok := h.judge(err); ok {
		h.settle(end)
	}
}

func (h *hold) listen() error {
	c, err := h.door().Connector(h.ctx, connectors.Ref(h.at.ID.String()))
	if err != nil {
		return err
	}
	if !h.enterHost(c.URL) {
		return errCrowded
	}
	return h.k.o.Syncer.Listen(h.ctx, h.at.Tenant, c, toolsync.Listener{
		Opened: h.open, Missed: h.catchUp, Hear: h.hear, Steady: h.k.o.Steady,
	})
}

func (h *hold) door() *store.Tenant { return h.k.o.Store.Tenant(h.at.Tenant) }

func (h *hold) stream() store.Stream {
	return store.Stream{Connector: h.at.ID, Instance: h.k.o.Instance}
}

// enterHost takes a place at the server's host, if there is one.
func (h *hold) enterHost(address string) bool {
	to, err := url.Parse(address)
	if err != nil {
		return true // it will not be connected to
	}
	h.k.mu.Lock()
	defer h.k.mu.Unlock()
	if h.k.hosts[to.Host] >= h.k.o.PerHost {
		return false
	}
	h.host = to.Host
	h.k.hosts[h.host]++
	return true
}

// leave gives back what counts for the stream.
func (h *hold) leave() {
	k := h.k
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.held, h.at)
	if k.tenants[h.at.Tenant]--; k.tenants[h.at.Tenant] == 0 {
		delete(k.tenants, h.at.Tenant)
	}
	if h.host == "" {
		return
	}
	if k.hosts[h.host]--; k.hosts[h.host] == 0 {
		delete(k.hosts, h.host)
	}
}

// open notes that there is a stream. One that is taken up again and again counts as much as many words.
func (h *hold) open(with *credentials.Usable) {
	h.opened.Store(time.Now().UnixMilli())
	h.weigh(opening)
	h.first.Do(func() {
		h.k.do(func() { h.noteOpen(with) })
	})
}

func (h *hold) noteOpen(with *credentials.Usable) {
	var credential *connectors.CredentialID
	revision := 0
	if with != nil {
		credential, revision = &with.ID, with.Revision
	}
	held, err := h.door().OpenStream(h.ctx, h.stream(), credential, revision)
	switch {
	case h.ctx.Err() != nil:
	case err != nil:
		h.end(endStale) // it is opened again, when it can be written down
	case !held:
		h.end(endLost)
	case h.was.Missed:
		h.catchUp()
	}
}

// hear takes one message of the server.
func (h *hold) hear(m mcp.Message) {
	h.weigh(1)
	if list, ok := listOf(m.Method); ok {
		h.changed(list)
	}
}

// weigh ends the stream of a server that says too much.
func (h *hold) weigh(n int) {
	h.mu.Lock()
	fine := h.meter.take(n, time.Now())
	h.mu.Unlock()
	if !fine {
		h.endBecause(cause{kind: endOff, reason: connectors.ListenFlood})
	}
}

// settle writes down how the stream ended. Where that fails, the next check finds it.
func (h *hold) settle(end store.StreamEnd) {
	k := h.k
	ctx, cancel := context.WithTimeout(context.WithoutCancel(h.ctx), settleTime)
	defer cancel()
	attrs := []slog.Attr{
		slog.String("tenant_id", h.at.Tenant.String()), slog.String("connector_id", h.at.ID.String()), slog.String("reason", string(end.Reason)),
	}
	if err := k.free(ctx, h.at, end); err != nil && !fault.Is(err, fault.NotFound) {
		k.o.Log.LogAttrs(ctx, slog.LevelWarn, "end of a server's stream not stored", append(attrs, slog.Any("error", err))...)
	}
	if end.State == connectors.ListenIsOff {
		k.o.Log.LogAttrs(ctx, slog.LevelInfo, "listening to a server is off", attrs...)
		k.count(func(s *Stats) {
			if s.Off == nil {
				s.Off = map[connectors.ListenReason]int{}
			}
			s.Off[end.Reason]++
		})
	}
}
