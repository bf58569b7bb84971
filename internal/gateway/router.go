package gateway

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

// router carries messages between the processes that serve one agent, as rows that live for minutes. Whoever puts one says so on the
// channel of changes, and Hear tells the server here.
type router struct {
	store   *store.Store
	arrived func(box string)

	mu      sync.Mutex // guards waiting
	waiting map[string]map[chan struct{}]struct{}
}

func newRouter(st *store.Store) *router {
	return &router{store: st, waiting: map[string]map[chan struct{}]struct{}{}}
}

// await tells when something was put into a box, and first at once, until it is left.
func (r *router) await(box string) (put <-chan struct{}, leave func()) {
	c := make(chan struct{}, 1)
	c <- struct{}{}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.waiting[box] == nil {
		r.waiting[box] = map[chan struct{}]struct{}{}
	}
	r.waiting[box][c] = struct{}{}
	return c, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.waiting[box], c)
		if len(r.waiting[box]) == 0 {
			delete(r.waiting, box)
		}
	}
}

var errNobody = errors.New("a message of nobody")

// parties reads what who wrote.
func parties(who string) (t connectors.TenantID, a connectors.AgentID, err error) {
	const size = len(uuid.UUID{})
	if len(who) < 2*size {
		return t, a, errNobody
	}
	copy(t.UUID[:], who)
	copy(a.UUID[:], who[size:])
	return t, a, nil
}

// Post puts a message into a box.
func (r *router) Post(ctx context.Context, who, box string, message []byte, stay time.Duration) error {
	tenant, agent, err := parties(who)
	if err != nil {
		return err
	}
	wait := store.WaitBudget{Tenant: tenant, Bytes: len(message)}
	return r.store.RetryUnsent(ctx, &wait, func(ctx context.Context) error {
		return r.store.Tenant(tenant).PutMail(ctx, store.NewMail{
			AgentID: agent, Box: box, Message: secret.Text(message), ExpiresAt: time.Now().Add(stay),
		})
	})
}

// Fetch reads what was put into a box so far.
func (r *router) Fetch(ctx context.Context, who, box string) ([][]byte, error) {
	tenant, agent, err := parties(who)
	if err != nil {
		return nil, err
	}
	var letters []store.Letter
	err = r.store.Retry(ctx, &store.WaitBudget{Tenant: tenant}, func(ctx context.Context) (err error) {
		letters, err = r.store.Vault(tenant).Mail(ctx, agent, box, uuid.Nil)
		return err
	})
	if err != nil {
		return nil, err
	}
	messages := make([][]byte, len(letters))
	for i, l := range letters {
		messages[i] = []byte(l.Message.Reveal())
	}
	return messages, nil
}

// hear takes a notice of the database.
func (r *router) hear(n store.Notice) {
	if n.Kind != "mail" {
		return
	}
	r.arrived(n.ID)
	r.poke(n.ID)
}

// poke wakes who waits for a box here.
func (r *router) poke(box string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for c := range r.waiting[box] {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}
