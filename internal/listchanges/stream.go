package listchanges

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

// recordEndTimeout bounds storing the end of a stream.
const recordEndTimeout = 5 * time.Second

// serverStream is one stream of this process, from its claim to its end.
type serverStream struct {
	keeper *Keeper
	owner  store.OwnedConnector
	claim  store.ClaimedStream
	ctx    context.Context //nolint:containedctx // the stream's life
	cancel context.CancelFunc

	openedAt  atomic.Int64 // last opening in Unix milliseconds; 0: not yet
	firstOpen sync.Once
	host      string // counted in Keeper.hosts; empty: not counted

	mu      sync.Mutex // guards the fields below
	cause   endCause
	meter   meter
	changes listChanges
}

// endCause is why this process ended a stream.
type endCause struct {
	kind   int
	reason connectors.ListenReason // of endOff
}

const (
	endNone  = iota // not ended by us
	endLost         // another process owns it
	endStale        // the connector or its credential changed
	endOff          // the server misbehaves
)

func newServerStream(k *Keeper, owner store.OwnedConnector, claim store.ClaimedStream) *serverStream {
	s := &serverStream{keeper: k, owner: owner, claim: claim}
	s.changes.unchanged = claim.Vain
	s.ctx, s.cancel = context.WithCancel(k.lifetime)
	return s
}

// endAs ends the stream. Only the first cause counts.
func (s *serverStream) endAs(kind int) { s.endWithCause(endCause{kind: kind}) }

func (s *serverStream) endWithCause(c endCause) {
	s.mu.Lock()
	if s.cause.kind == endNone {
		s.cause = c
	}
	s.mu.Unlock()
	s.cancel()
}

func (s *serverStream) isOpen() bool { return s.openedAt.Load() != 0 }

// run opens the stream, handles its messages until it ends, and records the end.
func (s *serverStream) run() {
	defer s.keeper.wakeLoop()
	defer s.releaseSlots()
	err := safe.Try(safe.Upstream, s.openAndListen)()
	s.cancel()
	s.queueLast()
	if end, ok := s.decideEnd(err); ok {
		s.recordEnd(end)
	}
}

func (s *serverStream) openAndListen() error {
	c, err := s.tenantStore().Connector(s.ctx, connectors.Ref(s.owner.ID.String()))
	if err != nil {
		return err
	}
	if !s.acquireHost(c.URL) {
		return errHostFull
	}
	return s.keeper.o.Syncer.Listen(s.ctx, s.owner.Tenant, c, toolsync.Listener{
		OnOpen: s.onOpen, OnReopen: s.queueMissed, OnMessage: s.onMessage, MinStreamLife: s.keeper.o.MinStreamLife,
	})
}

func (s *serverStream) tenantStore() *store.Tenant { return s.keeper.o.Store.Tenant(s.owner.Tenant) }

func (s *serverStream) streamKey() store.Stream {
	return store.Stream{Connector: s.owner.ID, Instance: s.keeper.o.Instance}
}

// acquireHost takes a slot of the server's host.
func (s *serverStream) acquireHost(address string) bool {
	target, err := url.Parse(address)
	if err != nil {
		return true // the dialer rejects it
	}
	s.keeper.mu.Lock()
	defer s.keeper.mu.Unlock()
	if s.keeper.hosts[target.Host] >= s.keeper.o.MaxPerHost {
		return false
	}
	s.host = target.Host
	s.keeper.hosts[s.host]++
	return true
}

// releaseSlots releases the slots of process, tenant and host.
func (s *serverStream) releaseSlots() {
	k := s.keeper
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.streams, s.owner)
	if k.tenants[s.owner.Tenant]--; k.tenants[s.owner.Tenant] == 0 {
		delete(k.tenants, s.owner.Tenant)
	}
	if s.host == "" {
		return
	}
	if k.hosts[s.host]--; k.hosts[s.host] == 0 {
		delete(k.hosts, s.host)
	}
}

// onOpen records that the stream is open. Each reopening counts as openingCost messages.
func (s *serverStream) onOpen(usable *credentials.Usable) {
	s.openedAt.Store(time.Now().UnixMilli())
	s.checkRate(openingCost)
	s.firstOpen.Do(func() {
		s.keeper.runInBackground(func() { s.recordOpen(usable) })
	})
}

func (s *serverStream) recordOpen(usable *credentials.Usable) {
	var credential *connectors.CredentialID
	revision := 0
	if usable != nil {
		credential, revision = &usable.ID, usable.Revision
	}
	isHeld, err := s.tenantStore().OpenStream(s.ctx, s.streamKey(), credential, revision)
	switch {
	case s.ctx.Err() != nil:
	case err != nil:
		s.endAs(endStale) // reopened when it can be stored
	case !isHeld:
		s.endAs(endLost)
	case s.claim.Missed:
		s.queueMissed()
	}
}

// onMessage handles one message of the server.
func (s *serverStream) onMessage(m mcp.Message) {
	s.checkRate(1)
	if list, ok := toListKind(m.Method); ok {
		s.onListChanged(list)
	}
}

// checkRate ends the stream of a server that sends too much.
func (s *serverStream) checkRate(n int) {
	if !s.meterMessages(n) {
		s.endWithCause(endCause{kind: endOff, reason: connectors.ListenFlood})
	}
}

func (s *serverStream) meterMessages(n int) (isWithin bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.meter.add(n, time.Now())
}

// recordEnd stores how the stream ended. After a failure, the next check finds the row.
func (s *serverStream) recordEnd(end store.StreamEnd) {
	k := s.keeper
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), recordEndTimeout)
	defer cancel()
	attrs := []slog.Attr{
		slog.String("tenant_id", s.owner.Tenant.String()), slog.String("connector_id", s.owner.ID.String()), slog.String("reason", string(end.Reason)),
	}
	if err := k.releaseStream(ctx, s.owner, end); err != nil && !fault.Is(err, fault.NotFound) {
		k.o.Log.LogAttrs(ctx, slog.LevelWarn, "end of a server's stream not stored", append(attrs, slog.Any("error", err))...)
	}
	if end.State == connectors.ListenIsOff {
		k.o.Log.LogAttrs(ctx, slog.LevelInfo, "listening to a server is off", attrs...)
		k.updateStats(func(s *Stats) {
			if s.Off == nil {
				s.Off = map[connectors.ListenReason]int{}
			}
			s.Off[end.Reason]++
		})
	}
}
