package store

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"patchbay/internal/connectors"
	"patchbay/internal/safe"
)

// Notice tells that something in the database is not any more what it was. Kind is "agent", "token", "connector", "credential",
// "tenant", "approval" or "mail"; ID is the row's, of a credential its connector's, and of mail its box. NoticeTools and its like tell what a
// connector's server said; NoticeUses what a process took of limits that all share.
type Notice struct {
	Kind   string
	Tenant connectors.TenantID
	ID     string
}

// What a connector's server said has changed.
const (
	NoticeTools     = "tools"
	NoticePrompts   = "prompts"
	NoticeResources = "resources"
)

// NoticeAccount tells that calls of an agent missed an account that is there now; its ID is the agent's.
const NoticeAccount = "account"

// NoticeUses is no change: its ID are the words of [System.SayUses].
const NoticeUses = "uses"

const (
	watchPulse    = 300 * time.Millisecond // how long the connection is believed to live without a sign of it
	watchPatience = 700 * time.Millisecond // how long that sign may take before nothing is trusted; with the pulse, a second
	watchDeath    = 8 * time.Second        // and before there is another connection: a busy machine is late, and loses nothing
	watchFirst    = 50 * time.Millisecond  // the first wait before a new connection
	watchLongest  = 2 * time.Second        // the longest
)

// Watch hears what changes, in whatever process, until ctx ends; then it returns nil. It has a connection of its own, outside the
// pool. state is told when it begins to hear and when it does not any more: what was said meanwhile is lost. What this process itself
// changes it hears before the change returns, and once more from the database. Where there is no way to listen, that is all. Both functions may be called at the same time, and must
// not block.
func (s *Store) Watch(ctx context.Context, hear func(Notice), state func(connected bool)) error {
	defer s.ears.add(hear)()
	if s.listens == nil {
		<-ctx.Done()
		return nil
	}
	heard := &belief{tell: state}
	for wait := watchFirst; ; wait = min(2*wait, watchLongest) {
		if s.listen(ctx, hear, heard) {
			wait = watchFirst
		}
		heard.set(false)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
	}
}

// listen hears notices over one connection until it breaks. It tells whether it ever heard any.
func (s *Store) listen(ctx context.Context, hear func(Notice), heard *belief) (listened bool) {
	defer func() {
		if v := recover(); v != nil { // what was to be dropped may be believed still: Watch says that nothing is heard, and begins anew
			_ = safe.Caught(safe.Database, v)
			listened = false
		}
	}()
	config := s.listens.Config().ConnConfig
	config.Tracer = nil // its pulse is nobody's query
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return false
	}
	defer closeWatch(ctx, conn)
	w := watch{conn: conn, echo: "patchbay_echo_" + strings.ReplaceAll(newID().String(), "-", ""), heard: heard}
	if err := w.begin(ctx); err != nil {
		return false
	}
	for err = w.prove(ctx, hear); err == nil && ctx.Err() == nil; err = w.next(ctx, hear) {
		listened = true
	}
	return listened
}

const changesChannel = "patchbay_changes"

// watch is a connection that listens. What it says to itself it must hear: a connection may live and be deaf, as behind a pooler that
// gives each transaction another server.
type watch struct {
	conn *pgx.Conn
	echo string // the channel on which it talks to itself

	heard *belief
}

func (w watch) begin(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, watchDeath)
	defer cancel()
	_, err := w.conn.Exec(ctx, "listen "+changesChannel+"; listen "+w.echo)
	return err
}

// next waits for a notice, and after some silence for a sign that it would have heard one.
func (w watch) next(ctx context.Context, hear func(Notice)) error {
	short, cancel := context.WithTimeout(ctx, watchPulse)
	defer cancel()
	said, err := w.conn.WaitForNotification(short)
	switch {
	case err == nil:
		w.pass(said, hear)
		return nil
	case short.Err() == nil || w.conn.IsClosed():
		return err
	}
	return w.prove(ctx, hear)
}

// prove says something, and returns when it is heard. What is late is not trusted meanwhile, and not lost.
func (w watch) prove(ctx context.Context, hear func(Notice)) error {
	ctx, cancel := context.WithTimeout(ctx, watchDeath)
	defer cancel()
	seen := w.heard.unless(watchPatience)
	if _, err := w.conn.Exec(ctx, "notify "+w.echo); err != nil {
		return err
	}
	for {
		said, err := w.conn.WaitForNotification(ctx)
		if err != nil {
			return err
		}
		if w.pass(said, hear); said.Channel == w.echo {
			seen()
			return nil
		}
	}
}

func (w watch) pass(said *pgconn.Notification, hear func(Notice)) {
	if said.Channel != changesChannel {
		return
	}
	if n := noticeOf(said.Payload); n != nil {
		hear(*n)
	}
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
	if len(said) == 0 {
		return
	}
	e.mu.Lock()
	all := slices.Collect(maps.Keys(e.all))
	e.mu.Unlock()
	for _, hear := range all {
		hearAll(*hear, said)
	}
}

// hearAll tells one listener. Its panic is not that of whoever has changed something.
func hearAll(hear func(Notice), said []Notice) {
	defer safe.Recover(safe.Database)
	for _, n := range said {
		hear(n)
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
