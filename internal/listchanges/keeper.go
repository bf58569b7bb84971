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

	MaxStreams    int           // streams of this process; 0: 2000
	MaxPerTenant  int           // of them, of one tenant; 0: 500
	MaxPerHost    int           // of them, to one host; 0: 500
	Round         time.Duration // interval of the loop without a notice; 0: 2 seconds
	Gap           time.Duration // minimum time between two syncs for one server; 0: 30 seconds
	MinStreamLife time.Duration // shorter streams count as failed; 0: 10 seconds
	Backoff       time.Duration // before the first retry of a failed stream; 0: 2 seconds
}

// Keeper holds this process's streams.
type Keeper struct {
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

// New returns a Keeper; Start begins its work.
func New(o Options) *Keeper {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	o.MaxStreams, o.MaxPerTenant, o.MaxPerHost = orDefault(o.MaxStreams, maxStreams), orDefault(o.MaxPerTenant, maxPerTenant), orDefault(o.MaxPerHost, maxPerHost)
	o.Round, o.Gap = orDefault(o.Round, 2*time.Second), orDefault(o.Gap, 30*time.Second)
	o.MinStreamLife, o.Backoff = orDefault(o.MinStreamLife, 10*time.Second), orDefault(o.Backoff, 2*time.Second)
	k := &Keeper{
		o: o, wake: make(chan struct{}, 1), missedNotices: true,
		streams: map[store.OwnedConnector]*serverStream{}, tenants: map[connectors.TenantID]int{}, hosts: map[string]int{},
		changed: map[store.OwnedConnector]bool{},
	}
	k.lifetime, k.cancel = context.WithCancel(context.Background())
	return k
}

func orDefault[T int | time.Duration](value, fallback T) T {
	if value == 0 {
		return fallback
	}
	return value
}

// Start begins to listen. The process must have a heartbeat.
func (k *Keeper) Start() {
	k.runInBackground(func() {
		safe.RunLoop(k.lifetime, "streams of list changes", func(context.Context) { k.loop() })
	})
}

// Stop ends the streams, waits for them and releases them to other processes.
func (k *Keeper) Stop(ctx context.Context) {
	k.mu.Lock()
	k.stopped = true
	k.mu.Unlock()
	k.cancel()
	k.background.Wait()
	if err := k.o.Store.System().ReleaseStreams(ctx, k.o.Instance); err != nil {
		k.o.Log.WarnContext(ctx, "streams not left to others", slog.Any("error", err))
	}
}

// OnNotice handles a notice of [store.Store.Watch].
func (k *Keeper) OnNotice(n store.Notice) {
	if n.Kind != "connector" && n.Kind != "credential" {
		return
	}
	id, ok := connectors.Ref(n.ID).UUID()
	if !ok {
		return
	}
	owner := store.OwnedConnector{Tenant: n.Tenant, ID: connectors.ConnectorID{UUID: id}}
	k.mu.Lock()
	k.changed[owner] = k.changed[owner] || n.Kind == "credential"
	k.mu.Unlock()
	k.wakeLoop()
}

// Connected handles the connection state of [store.Store.Watch]. After a reconnect the loop looks for missed
// changes.
func (k *Keeper) Connected(connected bool) {
	if !connected {
		return
	}
	k.mu.Lock()
	k.missedNotices = true
	k.mu.Unlock()
	k.wakeLoop()
}

// Stats returns the counters of this process.
func (k *Keeper) Stats() Stats {
	k.mu.Lock()
	defer k.mu.Unlock()
	s := k.stats
	s.Off = map[connectors.ListenReason]int{}
	for reason, n := range k.stats.Off {
		s.Off[reason] = n
	}
	for _, stream := range k.streams {
		if stream.isOpen() {
			s.Streams++
		}
	}
	return s
}

// wakeLoop starts the next round soon.
func (k *Keeper) wakeLoop() {
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

// runInBackground runs do unless the keeper is stopped. Stop waits for it.
func (k *Keeper) runInBackground(do func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.stopped {
		safe.GoIn(&k.background, safe.Upstream, do)
	}
}

func (k *Keeper) updateStats(change func(*Stats)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	change(&k.stats)
}
