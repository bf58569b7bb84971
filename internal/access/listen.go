package access

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/safe"
)

// Changed says which lists are not what a listener last knew.
type Changed struct {
	Tools     bool
	Prompts   bool
	Resources bool // or templates
	Gone      bool // the agent, or its token, may do nothing any more
}

func (c Changed) any() bool { return c != Changed{} }

func (c Changed) and(o Changed) Changed {
	return Changed{
		Tools: c.Tools || o.Tools, Prompts: c.Prompts || o.Prompts, Resources: c.Resources || o.Resources, Gone: c.Gone || o.Gone,
	}
}

// Listener is who wants to hear of changes.
type Listener struct {
	View      *View  // as the listener has it
	Token     *Token // where it is revoked, the listener is told; nil: none
	Connector string // the slug of the one connector that is of interest; empty: all
}

type listener struct {
	seat      *seat
	token     connectors.AgentTokenID
	connector string
	known     [kinds]imprint // guarded by Keeper.mu
	changed   chan Changed   // holds one
}

// Subscribe tells which lists change for the agent of a view. The function ends it.
func (k *Keeper) Subscribe(v *View) (<-chan Changed, func()) { return k.Listen(Listener{View: v}) }

// Listen tells what changes. A listener that is slow is told everything at once. The function ends it.
func (k *Keeper) Listen(o Listener) (<-chan Changed, func()) {
	s := k.seat(o.View.Tenant.ID, o.View.Agent.ID)
	l := &listener{seat: s, connector: o.Connector, known: o.View.imprints(o.Connector), changed: make(chan Changed, 1)}
	if o.Token != nil {
		l.token = o.Token.ID
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	s.listeners[l] = struct{}{}
	k.stir(s) // the view may have been dropped since it was taken
	return l.changed, func() { k.unlisten(l) }
}

func (k *Keeper) unlisten(l *listener) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(l.seat.listeners, l)
}

// say tells a listener, who may not have heard the last word yet. Keeper.mu is held.
func (l *listener) say(c Changed) {
	select {
	case before := <-l.changed:
		c = c.and(before)
	default:
	}
	l.changed <- c // nobody else sends
}

// imprints are what stands on a listener's lists.
func (v *View) imprints(connector string) (imprints [kinds]imprint) {
	if connector == "" {
		for k, l := range v.lists {
			imprints[k] = l.imprint
		}
		return imprints
	}
	r := v.reaches[connector]
	if r == nil {
		return imprints
	}
	for k := range kinds {
		imprints[k] = r.list(k).imprint
	}
	return imprints
}

// compare tells what is different, and remembers it. Keeper.mu is held.
func (l *listener) compare(now [kinds]imprint) Changed {
	was := l.known
	l.known = now
	return Changed{
		Tools:     now[Tools] != was[Tools],
		Prompts:   now[Prompts] != was[Prompts],
		Resources: now[Resources] != was[Resources] || now[Templates] != was[Templates],
	}
}

// Run tells listeners what changed, and notes which tokens were used, until ctx ends.
func (k *Keeper) Run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	var other sync.WaitGroup
	safe.GoIn(&other, safe.Background, func() { safe.RunLoop(ctx, "uses of tokens", k.noteUses) })
	defer other.Wait()
	defer cancel()
	var again <-chan time.Time // nil: all were told
	for {
		select {
		case <-ctx.Done():
			return
		case <-k.wake:
		case <-again:
		}
		if again = nil; !k.tellAll(ctx) {
			again = time.After(tellAgain)
		}
	}
}

// tellAgain is after how long those are told who could not be: the database may be there, and have been too slow.
const tellAgain = time.Second

// tellAll loads the views of the seats that are dirty, some at the same time, and tells who listens on them. The seats of those who could
// not be told stay dirty.
func (k *Keeper) tellAll(ctx context.Context) (all bool) {
	var some errgroup.Group
	some.SetLimit(4)
	for _, s := range k.takeDirty() {
		some.Go(func() (err error) {
			defer safe.RecoverTo(safe.View, &err)
			err = safe.Try(safe.View, func() error { return k.tell(ctx, s) })()
			if err != nil {
				k.mu.Lock()
				defer k.mu.Unlock()
				k.dirty[s] = true
			}
			return err
		})
	}
	return some.Wait() == nil
}

func (k *Keeper) takeDirty() []*seat {
	k.mu.Lock()
	defer k.mu.Unlock()
	all := make([]*seat, 0, len(k.dirty))
	for s := range k.dirty {
		all = append(all, s)
	}
	clear(k.dirty)
	return all
}

func (k *Keeper) tell(ctx context.Context, s *seat) error {
	v, err := k.view(ctx, s, nil)
	gone := fault.Is(err, fault.NotFound) || err == nil && !v.Agent.Enabled
	if err != nil && !gone {
		if ctx.Err() == nil {
			k.log.WarnContext(ctx, "listening agent not told of a change yet", "tenant_id", s.tenant, "agent_id", s.agent, "error", err)
		}
		return err
	}
	imprints := map[string][kinds]imprint{}
	k.mu.Lock()
	defer k.mu.Unlock()
	for l := range s.listeners {
		if gone {
			l.say(Changed{Gone: true})
			continue
		}
		now, known := imprints[l.connector]
		if !known {
			now = v.imprints(l.connector)
			imprints[l.connector] = now
		}
		c := l.compare(now)
		if r := v.reaches[l.connector]; l.connector != "" && r != nil {
			c = c.and(s.pending[r.Connector.ID])
		}
		if c.any() {
			l.say(c)
		}
	}
	s.pending = nil
	return nil
}

// noteUses writes down which tokens were used.
func (k *Keeper) noteUses(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case id := <-k.touches:
			ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
			if err := k.store.System().TouchAgentToken(ctx, id); err != nil && ctx.Err() == nil {
				k.log.WarnContext(ctx, "agent token use not noted", "token_id", id, "error", err)
			}
			cancel()
		}
	}
}
