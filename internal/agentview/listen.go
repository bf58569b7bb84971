package agentview

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/safe"
)

// Changed says which lists differ from what a listener last saw.
type Changed struct {
	Tools       bool
	Prompts     bool
	Resources   bool // or templates
	AccessEnded bool // the agent or its token is deleted, disabled or revoked
}

func (c Changed) hasAny() bool { return c != Changed{} }

func (c Changed) mergeWith(o Changed) Changed {
	return Changed{
		Tools: c.Tools || o.Tools, Prompts: c.Prompts || o.Prompts, Resources: c.Resources || o.Resources, AccessEnded: c.AccessEnded || o.AccessEnded,
	}
}

// visibleChange returns the part of a server's notification that is about lists of the grant.
func (connector *ConnectorView) visibleChange(c Changed) Changed {
	c.Prompts = c.Prompts && connector.Grant.IncludesItems(connectors.ItemPrompt)
	c.Resources = c.Resources && connector.Grant.IncludesItems(connectors.ItemResource)
	return c
}

// Listener describes a subscription to changes.
type Listener struct {
	View      *View  // the last view that the listener has
	Token     *Token // its revocation is reported as AccessEnded; nil: none
	Connector string // slug of the only connector of interest; empty: all
}

type listener struct {
	entry       *agentEntry
	token       connectors.AgentTokenID
	connector   string
	knownHashes [kindCount]listHash // guarded by Cache.mu
	changed     chan Changed        // has a buffer of one
}

// Subscribe is [Cache.Listen] for the agent of a view. The returned function ends it.
func (c *Cache) Subscribe(v *View) (<-chan Changed, func()) { return c.Listen(Listener{View: v}) }

// Listen reports changes until the returned function is called. Changes that a slow listener has not read are
// merged.
func (c *Cache) Listen(o Listener) (<-chan Changed, func()) {
	entry := c.ensureEntry(o.View.Tenant.ID, o.View.Agent.ID)
	l := &listener{entry: entry, connector: o.Connector, knownHashes: o.View.listHashes(o.Connector), changed: make(chan Changed, 1)}
	if o.Token != nil {
		l.token = o.Token.ID
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	entry.listeners[l] = struct{}{}
	c.markDirty(entry) // the view may have been dropped meanwhile
	return l.changed, func() { c.removeListener(l) }
}

func (c *Cache) removeListener(l *listener) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if delete(l.entry.listeners, l); len(l.entry.listeners) == 0 {
		delete(c.ending, l.entry)
	}
}

// notifyChange merges c with a change that the listener has not read. Cache.mu is held.
func (l *listener) notifyChange(change Changed) {
	select {
	case before := <-l.changed:
		change = change.mergeWith(before)
	default:
	}
	l.changed <- change // the only sender, so the buffer is free
}

// listHashes returns the hashes of the lists of a connector, or of all.
func (v *View) listHashes(connector string) (listHashes [kindCount]listHash) {
	if connector == "" {
		for k, l := range v.lists {
			listHashes[k] = l.hash
		}
		return listHashes
	}
	r := v.connectors[connector]
	if r == nil {
		return listHashes
	}
	for k := range kindCount {
		listHashes[k] = r.ownList(k).hash
	}
	return listHashes
}

// updateHashes stores the new hashes and returns what differs. Cache.mu is held.
func (l *listener) updateHashes(now [kindCount]listHash) Changed {
	was := l.knownHashes
	l.knownHashes = now
	return Changed{
		Tools:     now[Tools] != was[Tools],
		Prompts:   now[Prompts] != was[Prompts],
		Resources: now[Resources] != was[Resources] || now[Templates] != was[Templates],
	}
}

// Run notifies listeners, records token uses, writes learned words and makes vectors until ctx ends.
func (c *Cache) Run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	var other sync.WaitGroup
	safe.GoIn(&other, safe.Background, func() { safe.RunLoop(ctx, "uses of tokens", c.recordTokenUses) })
	safe.GoIn(&other, safe.Background, func() { safe.RunLoop(ctx, "learned words", c.learning.runLoop) })
	if c.embedder.client != nil {
		safe.GoIn(&other, safe.Background, func() { safe.RunLoop(ctx, "embeddings", c.embedder.runLoop) })
	}
	defer other.Wait()
	defer cancel()
	var again <-chan time.Time // nil: no retry is due
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.wake:
		case <-again:
		case <-c.afterNextEnd():
			c.markEnded()
		}
		if again = nil; !c.notifyDirty(ctx) {
			again = time.After(notifyRetryDelay)
		}
	}
}

// notifyRetryDelay is the delay after a failed load for listeners.
const notifyRetryDelay = time.Second

// notifyDirty loads the views of dirty entries, four at a time, and notifies their listeners. Entries that fail
// stay dirty.
func (c *Cache) notifyDirty(ctx context.Context) (all bool) {
	var some errgroup.Group
	some.SetLimit(4)
	for _, entry := range c.takeDirty() {
		some.Go(func() (err error) {
			defer safe.RecoverTo(safe.View, &err)
			err = safe.Try(safe.View, func() error { return c.notifyEntry(ctx, entry) })()
			if err != nil {
				c.mu.Lock()
				defer c.mu.Unlock()
				c.dirty[entry] = true
			}
			return err
		})
	}
	return some.Wait() == nil
}

func (c *Cache) takeDirty() []*agentEntry {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := make([]*agentEntry, 0, len(c.dirty))
	for entry := range c.dirty {
		all = append(all, entry)
	}
	clear(c.dirty)
	return all
}

func (c *Cache) notifyEntry(ctx context.Context, entry *agentEntry) error {
	v, err := c.loadView(ctx, entry, nil)
	gone := fault.Is(err, fault.NotFound) || err == nil && !v.Agent.Enabled
	if err != nil && !gone {
		if ctx.Err() == nil {
			c.log.WarnContext(ctx, "change not yet sent to listening agent", "tenant_id", entry.tenant, "agent_id", entry.agent, "error", err)
		}
		return err
	}
	imprints := map[string][kindCount]listHash{}
	c.mu.Lock()
	defer c.mu.Unlock()
	var end time.Time
	if !gone {
		end = v.endsAt
	}
	c.setEnd(entry, end)
	for l := range entry.listeners {
		if gone {
			l.notifyChange(Changed{AccessEnded: true})
			continue
		}
		now, known := imprints[l.connector]
		if !known {
			now = v.listHashes(l.connector)
			imprints[l.connector] = now
		}
		change := l.updateHashes(now)
		if connector := v.connectors[l.connector]; l.connector != "" && connector != nil {
			change = change.mergeWith(connector.visibleChange(entry.pending[connector.Connector.ID]))
		}
		if change.hasAny() {
			l.notifyChange(change)
		}
	}
	entry.pending = nil
	return nil
}

func (c *Cache) recordTokenUses(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case id := <-c.usedTokens:
			c.recordTokenUse(ctx, id)
		}
	}
}

func (c *Cache) recordTokenUse(ctx context.Context, id connectors.AgentTokenID) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if err := c.store.System().Sessions().TouchAgentToken(ctx, id); err != nil && ctx.Err() == nil {
		c.log.WarnContext(ctx, "agent token use not recorded", "token_id", id, "error", err)
	}
}
