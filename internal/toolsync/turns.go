package toolsync

import (
	"context"
	"slices"
	"sync"

	"patchbay/internal/connectors"
)

// turns lets so many do something at the same time, by turns among tenants: whoever waits stands behind one of each other tenant, and not
// behind all that another one has waiting.
type turns struct {
	mu      sync.Mutex // guards what follows
	free    int
	waiting map[connectors.TenantID][]chan struct{} // first come, first served; no empty ones
	order   []connectors.TenantID                   // of those that have somebody waiting, each once
}

func newTurns(places int) *turns {
	return &turns{free: places, waiting: map[connectors.TenantID][]chan struct{}{}}
}

// take waits for a tenant's turn. leave ends it.
func (t *turns) take(ctx context.Context, tenant connectors.TenantID) (leave func(), err error) {
	turn := t.queue(tenant)
	if turn == nil {
		return t.pass, nil
	}
	select {
	case <-turn:
		return t.pass, nil
	case <-ctx.Done():
		t.giveUp(tenant, turn)
		return nil, context.Cause(ctx)
	}
}

// queue takes a place, or says what to wait for.
func (t *turns) queue(tenant connectors.TenantID) chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.free > 0 {
		t.free--
		return nil
	}
	turn := make(chan struct{})
	if t.waiting[tenant] == nil {
		t.order = append(t.order, tenant)
	}
	t.waiting[tenant] = append(t.waiting[tenant], turn)
	return turn
}

// pass passes a place on to the tenant whose turn it is.
func (t *turns) pass() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.order) == 0 {
		t.free++
		return
	}
	next := t.order[0]
	t.order = t.order[1:]
	line := t.waiting[next]
	close(line[0])
	t.stay(next, line[1:])
}

// stay puts a tenant that goes on waiting behind the others. The caller has the lock.
func (t *turns) stay(tenant connectors.TenantID, line []chan struct{}) {
	if len(line) == 0 {
		delete(t.waiting, tenant)
		return
	}
	t.waiting[tenant] = line
	t.order = append(t.order, tenant)
}

// giveUp ends the waiting for a turn. One that came at the same moment is passed on.
func (t *turns) giveUp(tenant connectors.TenantID, turn chan struct{}) {
	t.mu.Lock()
	line := t.waiting[tenant]
	i := slices.Index(line, turn)
	if i < 0 {
		t.mu.Unlock()
		t.pass()
		return
	}
	defer t.mu.Unlock()
	if line = slices.Delete(line, i, i+1); len(line) > 0 {
		t.waiting[tenant] = line
		return
	}
	delete(t.waiting, tenant)
	t.order = slices.DeleteFunc(t.order, func(of connectors.TenantID) bool { return of == tenant })
}
