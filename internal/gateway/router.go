package gateway

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/safe"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

// messageRouter passes messages between the processes that serve one agent, as rows that live for minutes. Each
// insert notifies the database channel, and onNotify tells this process.
type messageRouter struct {
	store        *store.Store
	waitingBoxes func() []string // of requests in package serve
	onMessage    func(box string)
	tasks        sync.WaitGroup  // reads of missed mail, and posts; Add only under mu and while not stopped
	baseCtx      context.Context //nolint:containedctx // of these reads
	cancelBase   context.CancelFunc

	mu      sync.Mutex // guards the fields below
	waiters map[string]map[chan struct{}]struct{}
	stopped bool
}

func newRouter(st *store.Store) *messageRouter {
	r := &messageRouter{store: st, waiters: map[string]map[chan struct{}]struct{}{}}
	r.baseCtx, r.cancelBase = context.WithCancel(context.Background())
	return r
}

// watchMailbox signals, at once and after each message, that a mailbox may have messages.
func (r *messageRouter) watchMailbox(box string) (put <-chan struct{}, stop func()) {
	c := make(chan struct{}, 1)
	c <- struct{}{}
	return c, r.addWaiter(box, c)
}

// watchNewMail is watchMailbox without the signal at once.
func (r *messageRouter) watchNewMail(box string) (put <-chan struct{}, stop func()) {
	c := make(chan struct{}, 1)
	return c, r.addWaiter(box, c)
}

func (r *messageRouter) addWaiter(box string, c chan struct{}) (remove func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.waiters[box] == nil {
		r.waiters[box] = map[chan struct{}]struct{}{}
	}
	r.waiters[box][c] = struct{}{}
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.waiters[box], c)
		if len(r.waiters[box]) == 0 {
			delete(r.waiters, box)
		}
	}
}

var errInvalidCallerKey = errors.New("invalid caller key")

// parseCaller parses a callerKey.
func parseCaller(caller string) (t connectors.TenantID, a connectors.AgentID, err error) {
	const size = len(uuid.UUID{})
	if len(caller) < 2*size {
		return t, a, errInvalidCallerKey
	}
	copy(t.UUID[:], caller)
	copy(a.UUID[:], caller[size:])
	return t, a, nil
}

// Post stores a message in a mailbox.
func (r *messageRouter) Post(ctx context.Context, caller, box string, message []byte, ttl time.Duration) error {
	tenant, agent, err := parseCaller(caller)
	if err != nil {
		return err
	}
	mail := store.NewMail{ID: store.NewMailID(), AgentID: agent, Box: box, Message: secret.Text(message), ExpiresAt: time.Now().Add(ttl)}
	return r.store.Retry(ctx, &store.WaitBudget{Tenant: tenant, Bytes: len(message)}, func(ctx context.Context) error {
		return r.store.Tenant(tenant).Calls().PutMail(ctx, mail)
	})
}

// postTimeout bounds a post for which no request waits.
const postTimeout = 5 * time.Second

// postInBackground stores a message that may be lost.
func (r *messageRouter) postInBackground(tenant connectors.TenantID, mail store.NewMail) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped {
		return
	}
	safe.GoIn(&r.tasks, safe.Task, func() {
		ctx, cancel := context.WithTimeout(r.baseCtx, postTimeout)
		defer cancel()
		_ = r.store.Tenant(tenant).Calls().PutMail(ctx, mail)
	})
}

// Fetch returns all messages of a mailbox.
func (r *messageRouter) Fetch(ctx context.Context, caller, box string) ([][]byte, error) {
	tenant, agent, err := parseCaller(caller)
	if err != nil {
		return nil, err
	}
	var letters []store.MailMessage
	err = r.store.Retry(ctx, &store.WaitBudget{Tenant: tenant}, func(ctx context.Context) (err error) {
		letters, err = r.store.Vault(tenant).Mail(ctx, agent, box, uuid.Nil)
		return err
	})
	if err != nil {
		return nil, err
	}
	return toMessages(letters), nil
}

// Take returns and removes the messages of a mailbox. Each message goes to one of concurrent callers.
func (r *messageRouter) Take(ctx context.Context, caller, box string) ([][]byte, error) {
	tenant, agent, err := parseCaller(caller)
	if err != nil {
		return nil, err
	}
	letters, err := r.store.Vault(tenant).TakeMail(ctx, agent, box)
	if err != nil {
		return nil, err
	}
	return toMessages(letters), nil
}

func toMessages(letters []store.MailMessage) [][]byte {
	messages := make([][]byte, len(letters))
	for i, l := range letters {
		messages[i] = []byte(l.Message.Reveal())
	}
	return messages
}

func (r *messageRouter) onNotify(n store.ChangeEvent) {
	if n.Kind != "mail" {
		return
	}
	r.onMessage(n.ID)
	r.wakeWaiters(n.ID)
}

func (r *messageRouter) wakeWaiters(box string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for c := range r.waiters[box] {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

// onConnect reads, in the background, which mailboxes got messages without a notice.
func (r *messageRouter) onConnect() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.stopped {
		safe.GoIn(&r.tasks, safe.Task, r.readMissed)
	}
}

// readMissed reports the messages that came without a notice. That of later ones arrives by itself.
func (r *messageRouter) readMissed() {
	boxes := append(r.waitingBoxes(), r.watchedBoxes()...)
	if len(boxes) == 0 {
		return
	}
	var posted []string
	err := r.store.RetryStarted(r.baseCtx, func(ctx context.Context) (err error) {
		posted, err = r.store.System().Calls().ListNonemptyMailboxes(ctx, boxes)
		return err
	})
	if err != nil {
		return // it stays so until the next connection
	}
	for _, box := range posted {
		r.onMessage(box)
		r.wakeWaiters(box)
	}
}

func (r *messageRouter) watchedBoxes() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Collect(maps.Keys(r.waiters))
}

// stopReads ends the reads of missed mail.
func (r *messageRouter) stopReads() {
	r.mu.Lock()
	r.stopped = true
	r.mu.Unlock()
	r.cancelBase()
	r.tasks.Wait()
}
