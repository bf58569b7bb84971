package listening

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

// How many streams a process holds at most. The others are for other processes, or wait.
const (
	mostStreams   = 2000
	mostPerTenant = 500
	mostPerHost   = 500
)

// Options configure a [Keeper]. Store, Syncer and Instance are required.
type Options struct {
	Store    *store.Store
	Syncer   *toolsync.Syncer
	Instance connectors.InstanceID // this process, which is known to be alive
	Log      *slog.Logger          // nil: nowhere

	Most      int           // streams of this process; 0: 2000
	PerTenant int           // of them, of one tenant; 0: 500
	PerHost   int           // of them, to one host; 0: 500
	Round     time.Duration // between two looks at what there is to do, without a notice; 0: 2 seconds
	Gap       time.Duration // between two syncs that one server causes; 0: 30 seconds
	Steady    time.Duration // how long a stream lives that was worth opening; 0: 10 seconds
	Backoff   time.Duration // before a stream is opened again that could not be, the first time; 0: 2 seconds
}

// Keeper holds this process's streams.
type Keeper struct {
	o    Options
	life context.Context // of the streams
	cut  context.CancelFunc
	wake chan struct{} // there is something to do
	crew sync.WaitGroup

	mu      sync.Mutex // guards what follows
	stopped bool
	held    map[store.OwnedConnector]*hold
	tenants map[connectors.TenantID]int
	hosts   map[string]int
	moved   map[store.OwnedConnector]bool // connectors that are not what they were; true: their credentials
	behind  bool                          // notices may have been missed
	stats   Stats
}

// Stats is what a process did and does.
type Stats struct {
	Streams  int // that are open
	Notified int // how often servers said that a list had changed
	Syncs    int // that were queued for it
	Off      map[connectors.ListenReason]int
}

// New makes a Keeper. Start begins its work.
func New(o Options) *Keeper {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	o.Most, o.PerTenant, o.PerHost = or(o.Most, mostStreams), or(o.PerTenant, mostPerTenant), or(o.PerHost, mostPerHost)
	o.Round, o.Gap = or(o.Round, 2*time.Second), or(o.Gap, 30*time.Second)
	o.Steady, o.Backoff = or(o.Steady, 10*time.Second), or(o.Backoff, 2*time.Second)
	k := &Keeper{
		o: o, wake: make(chan struct{}, 1), behind: true,
		held: map[store.OwnedConnector]*hold{}, tenants: map[connectors.TenantID]int{}, hosts: map[string]int{},
		moved: map[store.OwnedConnector]bool{},
	}
	k.life, k.cut = context.WithCancel(context.Background())
	return k
}

func or[T int | time.Duration](value, usual T) T {
	if value == 0 {
		return usual
	}
	return value
}

// Start begins to listen. The process is known to be alive.
func (k *Keeper) Start() { k.do(k.rounds) }

// Stop ends the streams, waits for them, and leaves them to other processes.
func (k *Keeper) Stop(ctx context.Context) {
	k.mu.Lock()
	k.stopped = true
	k.mu.Unlock()
	k.cut()
	k.crew.Wait()
	if err := k.o.Store.System().ReleaseStreams(ctx, k.o.Instance); err != nil {
		k.o.Log.WarnContext(ctx, "streams not left to others", slog.Any("error", err))
	}
}

// Hear takes a notice of [store.Store.Watch].
func (k *Keeper) Hear(n store.Notice) {
	if n.Kind != "connector" && n.Kind != "credential" {
		return
	}
	id, ok := connectors.Ref(n.ID).UUID()
	if !ok {
		return
	}
	at := store.OwnedConnector{Tenant: n.Tenant, ID: connectors.ConnectorID{UUID: id}}
	k.mu.Lock()
	k.moved[at] = k.moved[at] || n.Kind == "credential"
	k.mu.Unlock()
	k.nudge()
}

// Connected takes the state of [store.Store.Watch]: what was said while nobody listened is found by looking.
func (k *Keeper) Connected(yes bool) {
	if !yes {
		return
	}
	k.mu.Lock()
	k.behind = true
	k.mu.Unlock()
	k.nudge()
}

// Stats tells what this process did and does.
func (k *Keeper) Stats() Stats {
	k.mu.Lock()
	defer k.mu.Unlock()
	s := k.stats
	s.Off = map[connectors.ListenReason]int{}
	for reason, n := range k.stats.Off {
		s.Off[reason] = n
	}
	for _, h := range k.held {
		if h.isOpen() {
			s.Streams++
		}
	}
	return s
}

// nudge has the next round begin soon.
func (k *Keeper) nudge() {
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

// do does something that Stop waits for, unless the keeper is stopped.
func (k *Keeper) do(what func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.stopped {
		safe.GoIn(&k.crew, safe.Upstream, what)
	}
}

func (k *Keeper) count(change func(*Stats)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	change(&k.stats)
}
