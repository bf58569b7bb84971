package access

import (
	"context"
	"sync"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/safe"
	"patchbay/internal/store"
)

// Watch hears what changes in the database, and tells listeners, until ctx ends. A program that has other uses for notices watches
// itself, and calls Hear, Connected and Run.
func (k *Keeper) Watch(ctx context.Context) {
	var all sync.WaitGroup
	safe.GoIn(&all, safe.Background, func() { safe.RunLoop(ctx, "views", k.Run) })
	_ = k.store.Watch(ctx, k.Hear, k.Connected)
	all.Wait()
}

// Connected says whether notices come in. What was loaded before a time without them is not trusted any more.
func (k *Keeper) Connected(connected bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !connected {
		k.hearing.Store(0)
		return
	}
	k.heard++
	k.hearing.Store(k.heard)
	for _, agents := range k.tenants {
		for _, s := range agents {
			k.drop(s) // who knows what was said meanwhile, also since what was read a moment ago
		}
	}
}

// Hear takes a notice: what it names is dropped. Others than those of agents, tokens, connectors and tenants change no view.
func (k *Keeper) Hear(n store.Notice) {
	k.mu.Lock()
	defer k.mu.Unlock()
	id, err := uuid.Parse(n.ID)
	if err != nil {
		return
	}
	switch n.Kind {
	case "agent":
		if s := k.tenants[n.Tenant][connectors.AgentID{UUID: id}]; s != nil {
			k.drop(s)
		}
	case "connector":
		k.connectorChanged(n.Tenant, connectors.ConnectorID{UUID: id})
	case "tenant":
		for _, s := range k.tenants[n.Tenant] {
			k.drop(s)
		}
	case store.NoticeTools:
		k.passOn(n.Tenant, connectors.ConnectorID{UUID: id}, Changed{Tools: true})
	case store.NoticePrompts:
		k.passOn(n.Tenant, connectors.ConnectorID{UUID: id}, Changed{Prompts: true})
	case store.NoticeResources:
		k.passOn(n.Tenant, connectors.ConnectorID{UUID: id}, Changed{Resources: true})
	case "token":
		k.tokenChanged(connectors.AgentTokenID{UUID: id})
	}
}

// connectorChanged drops the views that show a connector. A load that is under way may have seen it as it was.
func (k *Keeper) connectorChanged(tenant connectors.TenantID, id connectors.ConnectorID) {
	for _, s := range k.tenants[tenant] {
		l := s.view.Load()
		if l == nil || l.watched[id] {
			k.drop(s)
		} else if s.flight != nil {
			s.changes++
		}
	}
}

// passOn tells who listens to a connector alone what its server said. What that leads to, they and others are told when it was read.
func (k *Keeper) passOn(tenant connectors.TenantID, id connectors.ConnectorID, c Changed) {
	for _, s := range k.tenants[tenant] {
		v := s.view.Load()
		if v == nil {
			s.keepPending(id, c)
			k.stir(s)
			continue
		}
		for l := range s.listeners {
			if r := v.reaches[l.connector]; l.connector != "" && r != nil && r.Connector.ID == id {
				l.say(c)
			}
		}
	}
}

// keepPending keeps what a connector's server said until the next view is loaded. Keeper.mu is held.
func (s *seat) keepPending(id connectors.ConnectorID, c Changed) {
	if len(s.listeners) == 0 {
		return
	}
	if s.pending == nil {
		s.pending = map[connectors.ConnectorID]Changed{}
	}
	s.pending[id] = s.pending[id].and(c)
}

func (k *Keeper) tokenChanged(id connectors.AgentTokenID) {
	k.revoked++
	sum, known := k.byToken[id]
	if !known {
		return
	}
	s := k.tokens[sum].seat
	k.forgetToken(id, sum)
	for l := range s.listeners {
		if l.token == id {
			l.say(Changed{Gone: true})
		}
	}
}

// drop forgets a seat's view, and has its listeners told what is different in the next one.
func (k *Keeper) drop(s *seat) {
	s.changes++
	k.install(s, nil)
	k.stir(s)
}

// stir marks a seat whose listeners are to be told.
func (k *Keeper) stir(s *seat) {
	if len(s.listeners) == 0 {
		return
	}
	k.dirty[s] = true
	select {
	case k.wake <- struct{}{}:
	default:
	}
}
