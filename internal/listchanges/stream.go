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
	manager *Manager
	owner   store.OwnedConnector
	claim   store.ClaimedStream
	ctx     context.Context //nolint:containedctx // the stream's life
	cancel  context.CancelFunc

	openedAt  atomic.Int64 // last opening in Unix milliseconds; 0: not yet
	firstOpen sync.Once
	host      string // counted in Manager.hosts; empty: not counted

	mu       sync.Mutex // guards the fields below
	cause    endCause
	meter    messageCounter
	changes  listChanges
	messages logMessages
}

// endCause is why this process ended a stream.
type endCause struct {
	kind   int
	reason connectors.ListenReason // of causeOff
}

const (
	endNone    = iota // not ended by us
	causeLost         // another process owns it
	causeStale        // the connector or its credential changed
	causeOff          // the server misbehaves
)

func newServerStream(m *Manager, owner store.OwnedConnector, claim store.ClaimedStream) *serverStream {
	s := &serverStream{manager: m, owner: owner, claim: claim}
	s.changes.unchanged = claim.UnchangedInRow
	s.ctx, s.cancel = context.WithCancel(m.lifetime)
	return s
}

// endWithKind ends the stream. Only the first cause counts.
func (s *serverStream) endWithKind(kind int) { s.endWithCause(endCause{kind: kind}) }

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
	defer s.manager.wakeLoop()
	defer s.releaseSlots()
	err := safe.Try(safe.Upstream, s.openAndListen)()
	s.cancel()
	s.queueLast()
	s.sendLastMessage()
	if end, ok := s.decideEnd(err); ok {
		s.recordEnd(end)
	}
}

func (s *serverStream) openAndListen() error {
	c, err := s.tenantStore().Connectors().Get(s.ctx, connectors.Ref(s.owner.ID.String()))
	if err != nil {
		return err
	}
	if !s.acquireHost(c.URL) {
		return errHostFull
	}
	return s.manager.o.Syncer.Listen(s.ctx, s.owner.Tenant, c, toolsync.Listener{
		OnOpen: s.onOpen, OnReopen: s.queueMissed, OnMessage: s.onMessage, MinStreamLife: s.manager.o.MinStreamLife,
	})
}

func (s *serverStream) tenantStore() *store.Tenant { return s.manager.o.Store.Tenant(s.owner.Tenant) }

func (s *serverStream) streamKey() store.Stream {
	return store.Stream{Connector: s.owner.ID, Instance: s.manager.o.Instance}
}

// acquireHost takes a slot of the server's host.
func (s *serverStream) acquireHost(address string) bool {
	target, err := url.Parse(address)
	if err != nil {
		return true // the dialer rejects it
	}
	s.manager.mu.Lock()
	defer s.manager.mu.Unlock()
	if s.manager.hosts[target.Host] >= s.manager.o.MaxPerHost {
		return false
	}
	s.host = target.Host
	s.manager.hosts[s.host]++
	return true
}

// releaseSlots releases the slots of process, tenant and host.
func (s *serverStream) releaseSlots() {
	m := s.manager
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.streams, s.owner)
	if m.tenants[s.owner.Tenant]--; m.tenants[s.owner.Tenant] == 0 {
		delete(m.tenants, s.owner.Tenant)
	}
	if s.host == "" {
		return
	}
	if m.hosts[s.host]--; m.hosts[s.host] == 0 {
		delete(m.hosts, s.host)
	}
}

// onOpen records that the stream is open. Each reopening counts as openingCost messages.
func (s *serverStream) onOpen(credential *credentials.Credential) {
	s.openedAt.Store(time.Now().UnixMilli())
	s.checkRate(openingCost)
	s.firstOpen.Do(func() {
		s.manager.runInBackground(func() { s.recordOpen(credential) })
	})
}

func (s *serverStream) recordOpen(usable *credentials.Credential) {
	var credential *connectors.CredentialID
	revision := 0
	if usable != nil {
		credential, revision = &usable.ID, usable.Revision
	}
	isHeld, err := s.tenantStore().Syncs().OpenStream(s.ctx, s.streamKey(), credential, revision)
	switch {
	case s.ctx.Err() != nil:
	case err != nil:
		s.endWithKind(causeStale) // reopened when it can be stored
	case !isHeld:
		s.endWithKind(causeLost)
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
	if m.Method == "notifications/message" {
		s.onLogMessage(m.Params)
	}
}

// checkRate ends the stream of a server that sends too much.
func (s *serverStream) checkRate(n int) {
	if !s.meterMessages(n) {
		s.endWithCause(endCause{kind: causeOff, reason: connectors.ListenFlood})
	}
}

func (s *serverStream) meterMessages(n int) (isWithin bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.meter.add(n, time.Now())
}

// recordEnd stores how the stream ended. After a failure, the next check finds the row.
func (s *serverStream) recordEnd(end store.StreamEnd) {
	m := s.manager
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), recordEndTimeout)
	defer cancel()
	attrs := []slog.Attr{
		slog.String("tenant_id", s.owner.Tenant.String()), slog.String("connector_id", s.owner.ID.String()), slog.String("reason", string(end.Reason)),
	}
	if err := m.releaseStream(ctx, s.owner, end); err != nil && !fault.Is(err, fault.NotFound) {
		m.o.Log.LogAttrs(ctx, slog.LevelWarn, "end of a server's stream not stored", append(attrs, slog.Any("error", err))...)
	}
	if end.State == connectors.ListenStateOff {
		m.o.Log.LogAttrs(ctx, slog.LevelInfo, "listening to a server disabled", attrs...)
		m.updateStats(func(s *Stats) {
			if s.Off == nil {
				s.Off = map[connectors.ListenReason]int{}
			}
			s.Off[end.Reason]++
		})
	}
}
