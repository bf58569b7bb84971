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

// ChangeEvent says that a row changed. Kind is "agent", "token", "connector", "credential", "tenant", "approval" or
// "mail". ID is the row's id; of a credential its connector's, of mail its box. ChangeTools and its like
// forward a server's list_changed; NoticeUses carries consumption of shared limits.
type ChangeEvent struct {
	Kind   string
	Tenant connectors.TenantID
	ID     string
}

// Kinds of forwarded list_changed notifications.
const (
	ChangeTools     = "tools"
	NoticePrompts   = "prompts"
	NoticeResources = "resources"
)

// NoticeAccount says that an account was connected that calls of an agent missed. ID is the agent's.
const NoticeAccount = "account"

// NoticeUses is no change: ID has the words of [SystemCalls.PublishUses].
const NoticeUses = "uses"

const (
	pingInterval     = 300 * time.Millisecond // idle time before the connection is checked
	pingTimeout      = 700 * time.Millisecond // time for the check before the state is disconnected; with pingInterval one second
	pingDeadline     = 8 * time.Second        // time before it reconnects: a busy machine is late, and loses nothing
	minReconnectWait = 50 * time.Millisecond
	maxReconnectWait = 2 * time.Second
)

// Watch calls hear for changes of all processes until ctx ends; then it returns nil. It uses one connection
// outside of the pool. It calls state when it connects and disconnects: changes in between are lost. A local
// change arrives before the changing call returns, and again from the database. Without a LISTEN pool only
// local changes arrive. Both functions may be called concurrently and must not block.
func (s *Store) Watch(ctx context.Context, hear func(ChangeEvent), state func(connected bool)) error {
	defer s.listeners.add(hear)()
	if s.listenPool == nil {
		<-ctx.Done()
		return nil
	}
	heard := &connectedState{notify: state}
	for wait := minReconnectWait; ; wait = min(2*wait, maxReconnectWait) {
		if s.listenOnce(ctx, hear, heard) {
			wait = minReconnectWait
		}
		heard.set(false)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
	}
}

// listenOnce receives notifications over one connection until it breaks. It reports whether it ever worked.
func (s *Store) listenOnce(ctx context.Context, hear func(ChangeEvent), heard *connectedState) (listened bool) {
	defer func() {
		if v := recover(); v != nil { // the change may not have been applied: report a disconnect and reconnect
			_ = safe.Caught(safe.Database, v)
			listened = false
		}
	}()
	config := s.listenPool.Config().ConnConfig
	config.Tracer = nil // no tracing of its pings
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return false
	}
	defer closeWatch(ctx, conn)
	w := listenConn{conn: conn, pingChannel: "patchbay_echo_" + strings.ReplaceAll(newID().String(), "-", ""), state: heard}
	if err := w.startListening(ctx); err != nil {
		return false
	}
	for err = w.verifyListening(ctx, hear); err == nil && ctx.Err() == nil; err = w.waitNext(ctx, hear) {
		listened = true
	}
	return listened
}

const changesChannel = "patchbay_changes"

// listenConn is a LISTEN connection that checks itself by notifications: behind a pooler a connection may work
// and receive nothing.
type listenConn struct {
	conn        *pgx.Conn
	pingChannel string // channel of its own pings

	state *connectedState
}

func (c listenConn) startListening(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, pingDeadline)
	defer cancel()
	_, err := c.conn.Exec(ctx, "listen "+changesChannel+"; listen "+c.pingChannel)
	return err
}

// waitNext waits for a notification, and after pingInterval checks the connection.
func (c listenConn) waitNext(ctx context.Context, hear func(ChangeEvent)) error {
	short, cancel := context.WithTimeout(ctx, pingInterval)
	defer cancel()
	notification, err := c.conn.WaitForNotification(short)
	switch {
	case err == nil:
		c.dispatchNotice(notification, hear)
		return nil
	case short.Err() == nil || c.conn.IsClosed():
		return err
	}
	return c.verifyListening(ctx, hear)
}

// verifyListening sends a notification to itself and returns when it arrives. A late one marks the state as
// disconnected; nothing is lost.
func (c listenConn) verifyListening(ctx context.Context, hear func(ChangeEvent)) error {
	ctx, cancel := context.WithTimeout(ctx, pingDeadline)
	defer cancel()
	seen := c.state.expireUnlessSeen(pingTimeout)
	if _, err := c.conn.Exec(ctx, "notify "+c.pingChannel); err != nil {
		return err
	}
	for {
		notification, err := c.conn.WaitForNotification(ctx)
		if err != nil {
			return err
		}
		if c.dispatchNotice(notification, hear); notification.Channel == c.pingChannel {
			seen()
			return nil
		}
	}
}

func (c listenConn) dispatchNotice(notification *pgconn.Notification, hear func(ChangeEvent)) {
	if notification.Channel != changesChannel {
		return
	}
	if n := parseNotice(notification.Payload); n != nil {
		hear(*n)
	}
}

// parseNotice parses "<kind> <tenant> <id>"; nil: malformed.
func parseNotice(payload string) *ChangeEvent {
	kind, rest, _ := strings.Cut(payload, " ")
	tenant, id, _ := strings.Cut(rest, " ")
	of, err := uuid.Parse(tenant)
	if err != nil {
		return nil
	}
	return &ChangeEvent{Kind: kind, Tenant: connectors.TenantID{UUID: of}, ID: id}
}

// changeListeners are the Watch calls of this process.
type changeListeners struct {
	mu  sync.Mutex
	all map[*func(ChangeEvent)]struct{} // guarded by mu
}

func (l *changeListeners) add(hear func(ChangeEvent)) (end func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all == nil {
		l.all = map[*func(ChangeEvent)]struct{}{}
	}
	l.all[&hear] = struct{}{}
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.all, &hear)
	}
}

func (l *changeListeners) notifyAll(said ...ChangeEvent) {
	if len(said) == 0 {
		return
	}
	for _, hear := range l.listAll() {
		callListener(*hear, said)
	}
}

func (l *changeListeners) listAll() []*func(ChangeEvent) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Collect(maps.Keys(l.all))
}

// callListener calls one listener. Its panic must not reach the changing call.
func callListener(hear func(ChangeEvent), notices []ChangeEvent) {
	defer safe.Recover(safe.Database)
	for _, n := range notices {
		hear(n)
	}
}

// notifyChange notifies this process of a change after its commit, and passes err on.
func (t *tenant) notifyChange(err error, kind string, id fmt.Stringer) error {
	if err != nil {
		return err
	}
	n := ChangeEvent{Kind: kind, Tenant: t.id, ID: id.String()}
	if t.notices == nil {
		t.store.listeners.notifyAll(n)
		return nil
	}
	*t.notices = append(*t.notices, n)
	return nil
}

func closeWatch(ctx context.Context, conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_ = conn.Close(ctx)
}
