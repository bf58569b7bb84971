package listchanges

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/safe"
	"patchbay/internal/store"
	"patchbay/internal/toolsync"
)

// Maximum streams of a process. The others wait or go to other processes.
const (
	maxStreams   = 2000
	maxPerTenant = 500
	maxPerHost   = 500
)

// Options configure a [Keeper]. Store, Syncer and Instance are required.
type Options struct {
	Store    *store.Store
	Syncer   *toolsync.Syncer
	Instance connectors.InstanceID // this process, with a heartbeat
	Log      *slog.Logger          // nil: discard

	MaxStreams      int           // streams of this process; 0: 2000
	MaxPerTenant    int           // of them, of one tenant; 0: 500
	MaxPerHost      int           // of them, to one host; 0: 500
	PollInterval    time.Duration // interval of the loop without a notice; 0: 2 seconds
	MinSyncInterval time.Duration // minimum time between two syncs for one server; 0: 30 seconds
	MinStreamLife   time.Duration // shorter streams count as failed; 0: 10 seconds
	Backoff         time.Duration // before the first retry of a failed stream; 0: 2 seconds
	MessageInterval time.Duration // minimum time between two events for log messages of one server; 0: a minute
}

// Manager holds this process's streams.
type Manager struct {
	o          Options
	lifetime   context.Context // of the streams
	cancel     context.CancelFunc
	wake       chan struct{} // signals work for the loop
	background sync.WaitGroup

	mu            sync.Mutex // guards the fields below
	stopped       bool
	streams       map[store.OwnedConnector]*serverStream
	tenants       map[connectors.TenantID]int
	hosts         map[string]int
	changed       map[store.OwnedConnector]bool // changed connectors; true: their credentials too
	missedNotices bool                          // notices may have been missed
	stats         Stats
}

// Stats are the counters of a process.
type Stats struct {
	Streams  int // open now
	Notified int // list_changed notifications
	Syncs    int // queued for notifications
	Off      map[connectors.ListenReason]int
}

// New returns a Manager; Start begins its work.
func New(o Options) *Manager {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	o.MaxStreams, o.MaxPerTenant, o.MaxPerHost = orDefault(o.MaxStreams, maxStreams), orDefault(o.MaxPerTenant, maxPerTenant), orDefault(o.MaxPerHost, maxPerHost)
	o.PollInterval, o.MinSyncInterval = orDefault(o.PollInterval, 2*time.Second), orDefault(o.MinSyncInterval, 30*time.Second)
	o.MinStreamLife, o.Backoff = orDefault(o.MinStreamLife, 10*time.Second), orDefault(o.Backoff, 2*time.Second)
	o.MessageInterval = orDefault(o.MessageInterval, time.Minute)
	m := &Manager{
		o: o, wake: make(chan struct{}, 1), missedNotices: true,
		streams: map[store.OwnedConnector]*serverStream{}, tenants: map[connectors.TenantID]int{}, hosts: map[string]int{},
		changed: map[store.OwnedConnector]bool{},
	}
	m.lifetime, m.cancel = context.WithCancel(context.Background())
	return m
}

func orDefault[T int | time.Duration](value, fallback T) T {
	if value == 0 {
		return fallback
	}
	return value
}

// Start begins to listen. The process must have a heartbeat.
func (m *Manager) Start() {
	m.runInBackground(func() {
		safe.RunLoop(m.lifetime, "streams of list changes", func(context.Context) { m.loop() })
	})
}

// Stop ends the streams, waits for them and releases them to other processes.
func (m *Manager) Stop(ctx context.Context) {
	m.mu.Lock()
	m.stopped = true
	m.mu.Unlock()
	m.cancel()
	m.background.Wait()
	if err := m.o.Store.System().Syncs().ReleaseStreams(ctx, m.o.Instance); err != nil {
		m.o.Log.WarnContext(ctx, "streams not handed over", slog.Any("error", err))
	}
}

// OnNotice handles a notice of [store.Store.Watch].
func (m *Manager) OnNotice(n store.ChangeEvent) {
	if n.Kind != "connector" && n.Kind != "credential" {
		return
	}
	id, ok := connectors.Ref(n.ID).UUID()
	if !ok {
		return
	}
	owner := store.OwnedConnector{Tenant: n.Tenant, ID: connectors.ConnectorID{UUID: id}}
	m.mu.Lock()
	m.changed[owner] = m.changed[owner] || n.Kind == "credential"
	m.mu.Unlock()
	m.wakeLoop()
}

// SetConnected handles the connection state of [store.Store.Watch]. After a reconnect the loop looks for missed
// changes.
func (m *Manager) SetConnected(connected bool) {
	if !connected {
		return
	}
	m.mu.Lock()
	m.missedNotices = true
	m.mu.Unlock()
	m.wakeLoop()
}

// Stats returns the counters of this process.
func (m *Manager) Stats() Stats {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.stats
	s.Off = map[connectors.ListenReason]int{}
	for reason, n := range m.stats.Off {
		s.Off[reason] = n
	}
	for _, stream := range m.streams {
		if stream.isOpen() {
			s.Streams++
		}
	}
	return s
}

// wakeLoop starts the next round soon.
func (m *Manager) wakeLoop() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// runInBackground runs do unless the keeper is stopped. Stop waits for it.
func (m *Manager) runInBackground(do func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.stopped {
		safe.GoIn(&m.background, safe.Upstream, do)
	}
}

func (m *Manager) updateStats(change func(*Stats)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change(&m.stats)
}
