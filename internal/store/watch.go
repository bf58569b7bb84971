package store

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"patchbay/internal/connectors"
)

// Notice tells that something in the database is not any more what it was. Kind is "agent", "token", "connector", "credential",
// "tenant", "approval" or "mail"; ID is the row's, of a credential its connector's, and of mail its box.
type Notice struct {
	Kind   string
	Tenant connectors.TenantID
	ID     string
}

const (
	watchPulse    = 500 * time.Millisecond // how long the connection is believed to live without a sign of it
	watchPatience = 500 * time.Millisecond // how long that sign may take
	watchFirst    = 50 * time.Millisecond  // the first wait before a new connection
	watchLongest  = 2 * time.Second        // the longest
)

// Watch hears what changes, in whatever process, until ctx ends; then it returns nil. It has a connection of its own, outside the
// pool. state is told when it begins to hear and when it does not any more: what was said meanwhile is lost. What this process itself
// changes it hears before the change returns, and once more from the database. Both functions may be called at the same time, and must
// not block.
func (s *Store) Watch(ctx context.Context, hear func(Notice), state func(connected bool)) error {
	defer s.ears.add(hear)()
	for wait := watchFirst; ; wait = min(2*wait, watchLongest) {
		listened := s.listen(ctx, hear, func() { state(true) })
		if listened {
			state(false)
			wait = watchFirst
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
	}
}

// listen hears notices over one connection until it breaks. It tells whether it ever heard any.
func (s *Store) listen(ctx context.Context, hear func(Notice), begun func()) (listened bool) {
	config := s.pool.Config().ConnConfig
	config.Tracer = nil // its pulse is nobody's query
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return false
	}
	defer closeWatch(ctx, conn)
	if _, err := conn.Exec(ctx, "listen patchbay_changes"); err != nil {
		return false
	}
	begun()
	for ctx.Err() == nil {
		n, err := nextNotice(ctx, conn)
		switch {
		case err != nil:
			return true
		case n != nil:
			hear(*n)
		}
	}
	return true
}

// nextNotice waits for a notice. nil without an error: there was none, and the connection lives.
func nextNotice(ctx context.Context, conn *pgx.Conn) (*Notice, error) {
	short, cancel := context.WithTimeout(ctx, watchPulse)
	defer cancel()
	said, err := conn.WaitForNotification(short)
	if err == nil {
		return noticeOf(said.Payload), nil
	}
	if short.Err() == nil || conn.IsClosed() {
		return nil, err
	}
	sign, cancel := context.WithTimeout(ctx, watchPatience)
	defer cancel()
	return nil, conn.Ping(sign)
}

// noticeOf reads "<kind> <tenant> <id>"; nil: it is none of ours.
func noticeOf(payload string) *Notice {
	kind, rest, _ := strings.Cut(payload, " ")
	tenant, id, _ := strings.Cut(rest, " ")
	of, err := uuid.Parse(tenant)
	if err != nil {
		return nil
	}
	return &Notice{Kind: kind, Tenant: connectors.TenantID{UUID: of}, ID: id}
}

// ears are those who watch in this process.
type ears struct {
	mu  sync.Mutex
	all map[*func(Notice)]struct{} // guarded by mu
}

func (e *ears) add(hear func(Notice)) (end func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.all == nil {
		e.all = map[*func(Notice)]struct{}{}
	}
	e.all[&hear] = struct{}{}
	return func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.all, &hear)
	}
}

func (e *ears) tell(said ...Notice) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, n := range said {
		for hear := range e.all {
			(*hear)(n)
		}
	}
}

// says tells this process of a change, when it is committed, unless there is an error. It passes the error on.
func (t *Tenant) says(err error, kind string, id fmt.Stringer) error {
	if err != nil {
		return err
	}
	n := Notice{Kind: kind, Tenant: t.id, ID: id.String()}
	if t.said == nil {
		t.store.ears.tell(n)
		return nil
	}
	*t.said = append(*t.said, n)
	return nil
}

func closeWatch(ctx context.Context, conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_ = conn.Close(ctx)
}
