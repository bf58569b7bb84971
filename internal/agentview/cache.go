package agentview

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/embeddings"
	"patchbay/internal/fault"
	"patchbay/internal/limit"
	"patchbay/internal/safe"
	"patchbay/internal/store"
)

// Options configure a [Cache]. Store is required.
type Options struct {
	Store *store.Store
	Log   *slog.Logger
	Now   func() time.Time // nil: time.Now
	Bytes int64            // memory budget of views, in bytes; 0: 256 MiB
	// LearnEvery is the interval at which learned words are written; 0: ten seconds.
	LearnEvery time.Duration
	Embeddings *embeddings.Client // of the operator; nil: searches are by words alone
}

// Cache holds views and verified tokens in memory. It is safe for concurrent use.
type Cache struct {
	store    *store.Store
	log      *slog.Logger
	now      func() time.Time
	maxBytes int64

	definitions internPool[connectors.Hash, definition]
	lists       internPool[listHash, servedList]
	schemas     schemaCache

	// generation counts LISTEN connections; 0 while disconnected.
	generation atomic.Uint64

	mu              sync.RWMutex
	agents          map[connectors.TenantID]map[connectors.AgentID]*agentEntry // guarded by mu
	entryCount      int                                                        // guarded by mu
	tokens          map[[sha256.Size]byte]*tokenEntry                          // guarded by mu; by the SHA-256 of the text
	tokenHashesByID map[connectors.AgentTokenID][sha256.Size]byte              // guarded by mu
	revocations     uint64                                                     // guarded by mu: counts token notices
	listUses        map[*servedList]int                                        // guarded by mu: cached views that use the list
	bytes           int64                                                      // guarded by mu
	generations     uint64                                                     // guarded by mu: the last generation
	dirty           map[*agentEntry]bool                                       // guarded by mu: entries with listeners to notify
	ending          map[*agentEntry]bool                                       // guarded by mu: entries with listeners and an end
	wake            chan struct{}                                              // signals that dirty is not empty
	usedTokens      chan connectors.AgentTokenID
	tokenQuerySlots chan struct{} // a slot for each token query
	unknownTokens   unknownTokens
	unusedGate      *limit.Gate[connectors.TenantID] // for [Cache.Unused]
	learning        *learning
	embedder        *embedder
}

const (
	defaultBytes = 256 << 20
	// schemaBudgetShare is the divisor of the budget that compiled schemas may use in addition.
	schemaBudgetShare = 8
	// maxCached bounds the cached tokens, and the agent entries.
	maxCached = 100_000
	// maxTokenQueries bounds concurrent database queries for tokens.
	maxTokenQueries = 8
	// disconnectedTTL is how long cached data is used without a LISTEN connection.
	disconnectedTTL = time.Second
	// loadTimeout bounds one load of a view.
	loadTimeout = 10 * time.Second
)

// New returns a Cache. Until Watch connects, its entries expire after a second.
func New(o Options) *Cache {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Bytes == 0 {
		o.Bytes = defaultBytes
	}
	c := &Cache{
		store: o.Store, log: o.Log, now: o.Now, maxBytes: o.Bytes,
		listUses: map[*servedList]int{}, dirty: map[*agentEntry]bool{}, ending: map[*agentEntry]bool{},
		wake: make(chan struct{}, 1), usedTokens: make(chan connectors.AgentTokenID, 1024),
		tokenQuerySlots: make(chan struct{}, maxTokenQueries), unusedGate: limit.NewGate[connectors.TenantID](maxUnused, 0),
		learning: newLearning(o),
	}
	c.embedder = &embedder{
		client: o.Embeddings, store: o.Store, log: o.Log, now: o.Now, count: c.countIndex, queue: make(chan *View, maxQueuedViews), refused: map[connectors.Hash]time.Time{},
		questions: limit.NewRate[connectors.TenantID](questionRate, questionBurst),
	}
	c.schemas.budget = o.Bytes / schemaBudgetShare
	c.resetEntries()
	return c
}

func (c *Cache) resetEntries() {
	c.agents = map[connectors.TenantID]map[connectors.AgentID]*agentEntry{}
	c.tokens = map[[sha256.Size]byte]*tokenEntry{}
	c.tokenHashesByID = map[connectors.AgentTokenID][sha256.Size]byte{}
	c.entryCount = 0
}

// agentEntry caches one agent's view and its listeners.
type agentEntry struct {
	tenant connectors.TenantID
	agent  connectors.AgentID

	view     atomic.Pointer[loadedView] // nil: not loaded
	lastUsed atomic.Int64               // Unix nanoseconds

	changeCount uint64                 // guarded by Cache.mu: notices that may concern the agent
	load        *viewLoad              // guarded by Cache.mu: the load in progress
	listeners   map[*listener]struct{} // guarded by Cache.mu

	endsAt time.Time // guarded by Cache.mu: the next end of a grant, when listeners were last notified; zero: none

	// pending holds server notifications that arrived without a view to map connectors to slugs; guarded by
	// Cache.mu.
	pending map[connectors.ConnectorID]Changed
}

// loadedView is a view with the time of its load.
type loadedView struct {
	*View
	stamp readStamp
}

// readStamp is the time and the generation of a database read.
type readStamp struct {
	readAt     time.Time
	generation uint64
}

// newReadStamp must be called before the read.
func (c *Cache) newReadStamp() readStamp {
	return readStamp{readAt: c.now(), generation: c.generation.Load()}
}

// isFresh reports whether data with this stamp may still be used.
func (c *Cache) isFresh(entry readStamp, now time.Time) bool {
	return entry.generation != 0 && entry.generation == c.generation.Load() || now.Sub(entry.readAt) < disconnectedTTL
}

// viewLoad is one load, shared by all requests until the next change.
type viewLoad struct {
	changeCount uint64 // of the entry when the load began
	done        chan struct{}
	view        *View
	err         error
}

// ByAgent returns the view of an agent, enabled or not.
func (c *Cache) ByAgent(ctx context.Context, tenant connectors.TenantID, agent connectors.Ref) (*View, error) {
	id, err := c.agentID(ctx, tenant, agent)
	if err != nil {
		return nil, err
	}
	return c.loadView(ctx, c.ensureEntry(tenant, id), nil)
}

// LoadUncached is [Cache.ByAgent] without the cache: it sees what another process has just committed.
func (c *Cache) LoadUncached(ctx context.Context, tenant connectors.TenantID, agent connectors.Ref) (*View, error) {
	id, err := c.agentID(ctx, tenant, agent)
	if err != nil {
		return nil, err
	}
	return c.readView(ctx, tenant, id)
}

// LoadFrom is LoadUncached within a snapshot.
func (c *Cache) LoadFrom(ctx context.Context, snapshot store.Agents, agent connectors.AgentID) (*View, error) {
	return c.readViewFrom(ctx, snapshot, agent)
}

func (c *Cache) agentID(ctx context.Context, tenant connectors.TenantID, agent connectors.Ref) (connectors.AgentID, error) {
	if id, isID := agent.UUID(); isID {
		return connectors.AgentID{UUID: id}, nil
	}
	found, err := c.store.Tenant(tenant).Agents().Get(ctx, agent)
	return found.ID, err
}

func (c *Cache) ensureEntry(tenant connectors.TenantID, agent connectors.AgentID) *agentEntry {
	c.mu.Lock()
	defer c.mu.Unlock()
	if entry := c.agents[tenant][agent]; entry != nil {
		return entry
	}
	if c.entryCount >= maxCached {
		c.dropUnlistened()
	}
	entry := &agentEntry{tenant: tenant, agent: agent, listeners: map[*listener]struct{}{}}
	if c.agents[tenant] == nil {
		c.agents[tenant] = map[connectors.AgentID]*agentEntry{}
	}
	c.agents[tenant][agent] = entry
	c.entryCount++
	return entry
}

// loadView returns the cached view if it is fresh, else loads it. The caller waits for the database within its
// budget.
func (c *Cache) loadView(ctx context.Context, entry *agentEntry, wait *store.WaitBudget) (*View, error) {
	now := c.now()
	entry.lastUsed.Store(now.UnixNano())
	if v := c.cachedView(entry, now); v != nil {
		return v, nil
	}
	var v *View
	err := c.store.Retry(ctx, wait, func(ctx context.Context) error {
		if v = c.cachedView(entry, c.now()); v != nil { // another waiting caller loaded it
			return nil
		}
		load := c.joinLoad(ctx, entry)
		select {
		case <-load.done:
			v = load.view
			return load.err
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	if err != nil {
		return nil, err
	}
	return v, nil
}

// cachedView returns the view in memory if it is fresh, else nil.
func (c *Cache) cachedView(entry *agentEntry, now time.Time) *View {
	if l := entry.view.Load(); l != nil && c.isFresh(l.stamp, now) && !isPast(l.endsAt, now) && !l.isOldEnding(now) {
		return l.View
	}
	return nil
}

// joinLoad returns the load in progress, or starts one if that may predate a change. A load outlives the
// request that started it.
func (c *Cache) joinLoad(ctx context.Context, entry *agentEntry) *viewLoad {
	c.mu.Lock()
	defer c.mu.Unlock()
	if load := entry.load; load != nil && load.changeCount == entry.changeCount {
		return load
	}
	load := &viewLoad{changeCount: entry.changeCount, done: make(chan struct{})}
	entry.load = load
	safe.Go(safe.View, func() {
		defer close(load.done)
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), loadTimeout)
		defer cancel()
		var stamp readStamp
		load.err = safe.Try(safe.View, func() (err error) {
			stamp = c.newReadStamp()
			load.view, err = c.readView(ctx, entry.tenant, entry.agent)
			return err
		})()
		c.finishLoad(entry, load, stamp)
	})
	return load
}

// errDefinitionDeleted reports a definition that was deleted after the rows that name it were read.
var errDefinitionDeleted = errors.New("access: the definition of a listed tool is not in the database")

// readView loads a view from the database. The rows are one statement; missing definitions follow in a second,
// because most are in memory. Definitions are immutable and can only be deleted in between. Then everything is
// read again in one snapshot.
func (c *Cache) readView(ctx context.Context, tenant connectors.TenantID, agent connectors.AgentID) (*View, error) {
	db := c.store.Tenant(tenant)
	v, err := c.readViewFrom(ctx, db.Agents(), agent)
	if errors.Is(err, errDefinitionDeleted) {
		err = db.Snapshot(ctx, func(tx *store.Tenant) error {
			v, err = c.readViewFrom(ctx, tx.Agents(), agent)
			return err
		})
	}
	return v, err
}

func (c *Cache) readViewFrom(ctx context.Context, db store.Agents, agent connectors.AgentID) (*View, error) {
	began := c.now()
	rows, err := db.Access(ctx, agent)
	if err != nil {
		return nil, err
	}
	b := newViewBuilder(c, rows, began)
	missing, bytes := b.findMissingDefinitions()
	switch {
	case bytes > store.MaxServedBytes:
		return nil, store.TooManyDefinitions()
	case len(missing) > 0:
		raws, err := db.AcceptedDefinitions(ctx, missing, store.MaxServedBytes-bytes)
		if err != nil {
			return nil, err
		}
		for _, hash := range missing {
			raw, found := raws[hash]
			if !found {
				return nil, fmt.Errorf("%w: %x", errDefinitionDeleted, hash)
			}
			b.definitions[hash] = c.definitions.put(hash, c.parseDefinition(hash, raw))
		}
	}
	return b.buildView(), nil
}

// parseDefinition parses a definition and counts its compiled schema against the cache's budget.
func (c *Cache) parseDefinition(hash connectors.Hash, raw []byte) *definition {
	d := newDefinition(hash, raw)
	d.schemas = &c.schemas
	return d
}

// finishLoad ends a load, and caches its view unless a change came in between.
func (c *Cache) finishLoad(entry *agentEntry, load *viewLoad, stamp readStamp) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if entry.load == load {
		entry.load = nil
	}
	switch {
	case load.err == nil && entry.changeCount == load.changeCount:
		c.setView(entry, &loadedView{View: load.view, stamp: stamp})
	case fault.Is(load.err, fault.NotFound):
		c.setView(entry, nil)
		c.removeEntry(entry)
	}
}

// removeEntry removes the entry of a deleted agent, unless it has listeners.
func (c *Cache) removeEntry(entry *agentEntry) {
	if c.agents[entry.tenant][entry.agent] == entry && len(entry.listeners) == 0 {
		delete(c.agents[entry.tenant], entry.agent)
		c.entryCount--
	}
}

// setView replaces the cached view; nil removes it.
func (c *Cache) setView(entry *agentEntry, l *loadedView) {
	if old := entry.view.Load(); old != nil {
		c.addMemory(old.View, -1)
	}
	entry.view.Store(l)
	if l == nil {
		return
	}
	c.addMemory(l.View, 1)
	if c.bytes > c.maxBytes {
		c.evictViews(entry)
	}
}

// addMemory adds (sign 1) or subtracts (-1) a view's memory. A shared list counts once.
func (c *Cache) addMemory(v *View, sign int) {
	c.bytes += int64(sign) * (v.bytes + v.search.bytes)
	for _, l := range v.lists {
		before := c.listUses[l]
		after := before + sign
		switch {
		case before == 0:
			c.bytes += 2 * l.size // for modern and legacy clients
		case after == 0:
			c.bytes -= 2 * l.size
		}
		if c.listUses[l] = after; after == 0 {
			delete(c.listUses, l)
		}
	}
}

// Bytes returns the memory of views and compiled schemas.
func (c *Cache) Bytes() int64 {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.bytes + c.schemas.size()
}
