package access

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
	"patchbay/internal/fault"
	"patchbay/internal/safe"
	"patchbay/internal/store"
)

// Options are what a Keeper needs. Store is required.
type Options struct {
	Store *store.Store
	Log   *slog.Logger
	Now   func() time.Time // nil: time.Now
	Bytes int64            // that views may have in memory; 0: 256 MiB
}

// Keeper keeps views and tokens. It is safe for concurrent use.
type Keeper struct {
	store  *store.Store
	log    *slog.Logger
	now    func() time.Time
	budget int64

	definitions interned[connectors.Hash, definition]
	lists       interned[imprint, list]
	schemas     schemaCache

	// Which hearing this is: 0 while nobody hears what changes, and another number after each time of deafness.
	hearing atomic.Uint64

	mu      sync.RWMutex
	tenants map[connectors.TenantID]map[connectors.AgentID]*seat // guarded by mu
	seats   int                                                  // guarded by mu
	tokens  map[[sha256.Size]byte]*tokenEntry                    // guarded by mu; by the text
	byToken map[connectors.AgentTokenID][sha256.Size]byte        // guarded by mu
	revoked uint64                                               // guarded by mu: counts notices about tokens
	users   map[*list]int                                        // guarded by mu: views in memory that have the list
	bytes   int64                                                // guarded by mu
	heard   uint64                                               // guarded by mu: counts hearings
	dirty   map[*seat]bool                                       // guarded by mu: with listeners, and perhaps another view
	wake    chan struct{}                                        // that something is dirty
	touches chan connectors.AgentTokenID
	finding chan struct{} // a place for each token that is being looked for
	unknown unknown
	looks   turns // for unused tools
}

const (
	defaultBytes = 256 << 20
	// schemasPart is the part of the budget that compiled schemas may have besides.
	schemasPart = 8
	// mostEntries bounds tokens, and seats of agents, in memory.
	mostEntries = 100_000
	// mostFinding bounds the tokens that are looked for in the database at once.
	mostFinding = 8
	// trustedDeaf is how long something is trusted while nobody hears what changes.
	trustedDeaf = time.Second
	// loadTime bounds one load of a view.
	loadTime = 10 * time.Second
)

// New makes a Keeper. It trusts nothing for longer than a second until Watch hears.
func New(o Options) *Keeper {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Bytes == 0 {
		o.Bytes = defaultBytes
	}
	k := &Keeper{
		store: o.Store, log: o.Log, now: o.Now, budget: o.Bytes,
		users: map[*list]int{}, dirty: map[*seat]bool{},
		wake: make(chan struct{}, 1), touches: make(chan connectors.AgentTokenID, 1024),
		finding: make(chan struct{}, mostFinding),
	}
	k.schemas.budget = o.Bytes / schemasPart
	k.empty()
	return k
}

// empty forgets all tokens and seats.
func (k *Keeper) empty() {
	k.tenants = map[connectors.TenantID]map[connectors.AgentID]*seat{}
	k.tokens = map[[sha256.Size]byte]*tokenEntry{}
	k.byToken = map[connectors.AgentTokenID][sha256.Size]byte{}
	k.seats = 0
}

// seat is where an agent's view is kept.
type seat struct {
	tenant connectors.TenantID
	agent  connectors.AgentID

	view atomic.Pointer[loaded] // nil: to be loaded
	used atomic.Int64           // when it was last asked for, in Unix nanoseconds

	changes   uint64                 // guarded by Keeper.mu: counts notices that may concern it
	flight    *flight                // guarded by Keeper.mu: the load that is under way
	listeners map[*listener]struct{} // guarded by Keeper.mu

	// pending is what servers said while there was no view that names the connectors; guarded by Keeper.mu. Nil: nothing.
	pending map[connectors.ConnectorID]Changed
}

// loaded is a view, and when it was true.
type loaded struct {
	*View
	stamp stamp
}

// stamp says when something was read, and in which hearing.
type stamp struct {
	at      time.Time
	hearing uint64
}

// stamp is the one of what is read from now on.
func (k *Keeper) stamp() stamp { return stamp{at: k.now(), hearing: k.hearing.Load()} }

// trusts tells whether what was read then is still to be believed.
func (k *Keeper) trusts(s stamp, now time.Time) bool {
	return s.hearing != 0 && s.hearing == k.hearing.Load() || now.Sub(s.at) < trustedDeaf
}

// flight is one load for all who ask before the next change.
type flight struct {
	changes uint64 // the seat's, when the load began
	done    chan struct{}
	view    *View
	err     error
}

// ByAgent is the view of an agent, enabled or not.
func (k *Keeper) ByAgent(ctx context.Context, tenant connectors.TenantID, agent connectors.Ref) (*View, error) {
	id, err := k.agentID(ctx, tenant, agent)
	if err != nil {
		return nil, err
	}
	return k.view(ctx, k.seat(tenant, id), nil)
}

// Fresh is ByAgent, read from the database: it shows what another process has just changed.
func (k *Keeper) Fresh(ctx context.Context, tenant connectors.TenantID, agent connectors.Ref) (*View, error) {
	id, err := k.agentID(ctx, tenant, agent)
	if err != nil {
		return nil, err
	}
	return k.read(ctx, tenant, id)
}

// FreshIn is Fresh at the moment that a snapshot sees.
func (k *Keeper) FreshIn(ctx context.Context, snapshot *store.Tenant, agent connectors.AgentID) (*View, error) {
	return k.readFrom(ctx, snapshot, agent)
}

func (k *Keeper) agentID(ctx context.Context, tenant connectors.TenantID, agent connectors.Ref) (connectors.AgentID, error) {
	if id, isID := agent.UUID(); isID {
		return connectors.AgentID{UUID: id}, nil
	}
	found, err := k.store.Tenant(tenant).Agent(ctx, agent)
	return found.ID, err
}

// seat finds or makes an agent's seat.
func (k *Keeper) seat(tenant connectors.TenantID, agent connectors.AgentID) *seat {
	k.mu.Lock()
	defer k.mu.Unlock()
	if s := k.tenants[tenant][agent]; s != nil {
		return s
	}
	if k.seats >= mostEntries {
		k.forgetAll()
	}
	s := &seat{tenant: tenant, agent: agent, listeners: map[*listener]struct{}{}}
	if k.tenants[tenant] == nil {
		k.tenants[tenant] = map[connectors.AgentID]*seat{}
	}
	k.tenants[tenant][agent] = s
	k.seats++
	return s
}

// view is what the agent may do now: from memory where that is to be trusted, else from the database, for which the caller waits within its
// budget.
func (k *Keeper) view(ctx context.Context, s *seat, wait *store.WaitBudget) (*View, error) {
	now := k.now()
	s.used.Store(now.UnixNano())
	if v := k.trustedView(s, now); v != nil {
		return v, nil
	}
	var v *View
	err := k.store.Retry(ctx, wait, func(ctx context.Context) error {
		if v = k.trustedView(s, k.now()); v != nil { // loaded for another caller that waited
			return nil
		}
		f := k.board(ctx, s)
		select {
		case <-f.done:
			v = f.view
			return f.err
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	if err != nil {
		return nil, err
	}
	return v, nil
}

// trustedView is the view in memory, where that is to be trusted; else nil.
func (k *Keeper) trustedView(s *seat, now time.Time) *View {
	if l := s.view.Load(); l != nil && k.trusts(l.stamp, now) {
		return l.View
	}
	return nil
}

// board joins the load that is under way, or begins one where that may have read what was before a change. A load goes on when its first
// passenger leaves.
func (k *Keeper) board(ctx context.Context, s *seat) *flight {
	k.mu.Lock()
	defer k.mu.Unlock()
	if f := s.flight; f != nil && f.changes == s.changes {
		return f
	}
	f := &flight{changes: s.changes, done: make(chan struct{})}
	s.flight = f
	safe.Go(safe.View, func() {
		defer close(f.done)
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), loadTime)
		defer cancel()
		var at stamp
		f.err = safe.Try(safe.View, func() (err error) {
			at = k.stamp()
			f.view, err = k.read(ctx, s.tenant, s.agent)
			return err
		})()
		k.land(s, f, at)
	})
	return f
}

// errDefinitionGone is of a definition that was deleted after the rows that name it were read.
var errDefinitionGone = errors.New("access: the definition of a listed tool is not in the database")

// read loads a view from the database. The rows are of one moment. The definitions are read after them, for most are in memory; they are
// named by their hashes, never change, and can only have been deleted meanwhile. Then everything is read again, in one snapshot.
func (k *Keeper) read(ctx context.Context, tenant connectors.TenantID, agent connectors.AgentID) (*View, error) {
	door := k.store.Tenant(tenant)
	v, err := k.readFrom(ctx, door, agent)
	if errors.Is(err, errDefinitionGone) {
		err = door.Snapshot(ctx, func(tx *store.Tenant) error {
			v, err = k.readFrom(ctx, tx, agent)
			return err
		})
	}
	return v, err
}

func (k *Keeper) readFrom(ctx context.Context, door *store.Tenant, agent connectors.AgentID) (*View, error) {
	rows, err := door.Access(ctx, agent)
	if err != nil {
		return nil, err
	}
	b := newBuilder(k, rows)
	missing, bytes := b.wanted()
	switch {
	case bytes > store.MaxServedBytes:
		return nil, store.TooManyDefinitions()
	case len(missing) > 0:
		raws, err := door.AcceptedDefinitions(ctx, missing, store.MaxServedBytes-bytes)
		if err != nil {
			return nil, err
		}
		for _, hash := range missing {
			raw, found := raws[hash]
			if !found {
				return nil, fmt.Errorf("%w: %x", errDefinitionGone, hash)
			}
			b.definitions[hash] = k.definitions.put(hash, k.definition(hash, raw))
		}
	}
	return b.build(), nil
}

// definition takes a definition apart. What is compiled of it counts in the keeper's budget.
func (k *Keeper) definition(hash connectors.Hash, raw []byte) *definition {
	d := newDefinition(hash, raw)
	d.schemas = &k.schemas
	return d
}

// land ends a flight, and keeps what it brought unless that is old already.
func (k *Keeper) land(s *seat, f *flight, at stamp) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if s.flight == f {
		s.flight = nil
	}
	switch {
	case f.err == nil && s.changes == f.changes:
		k.install(s, &loaded{View: f.view, stamp: at})
	case fault.Is(f.err, fault.NotFound):
		k.install(s, nil)
		k.leave(s)
	}
}

// leave gives up the seat of an agent that is not there, unless somebody listens on it.
func (k *Keeper) leave(s *seat) {
	if k.tenants[s.tenant][s.agent] == s && len(s.listeners) == 0 {
		delete(k.tenants[s.tenant], s.agent)
		k.seats--
	}
}

// install puts a view in its place; nil: none.
func (k *Keeper) install(s *seat, l *loaded) {
	if old := s.view.Load(); old != nil {
		k.charge(old.View, -1)
	}
	s.view.Store(l)
	if l == nil {
		return
	}
	k.charge(l.View, 1)
	if k.bytes > k.budget {
		k.evict(s)
	}
}

// charge counts a view's memory. A list counts once, however many views have it.
func (k *Keeper) charge(v *View, by int) {
	k.bytes += int64(by) * v.bytes
	for _, l := range v.lists {
		before := k.users[l]
		after := before + by
		switch {
		case before == 0:
			k.bytes += 2 * l.size // for both eras
		case after == 0:
			k.bytes -= 2 * l.size
		}
		if k.users[l] = after; after == 0 {
			delete(k.users, l)
		}
	}
}

// Bytes is how much memory the views and the compiled schemas have.
func (k *Keeper) Bytes() int64 {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.bytes + k.schemas.size()
}
