package store_test

import (
	"context"
	"net"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"patchbay/db"
	"patchbay/internal/store"
	"patchbay/internal/testing/fixture"
	"patchbay/internal/testing/pgtest"
)

// wire is a way to a database on which nothing moves for a while, and nothing is lost.
type wire struct {
	sync.RWMutex // held for writing: nothing moves

	listener net.Listener
	made     int // connections; guarded by the lock
}

// newWire returns a wire and the address of the database through it.
func newWire(t *testing.T, database string) (*wire, string) {
	t.Helper()
	config, err := pgx.ParseConfig(database)
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{}
	if w.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.listener.Close() })
	go w.accept(pgconn.NetworkAddress(config.Host, config.Port))
	through := url.URL{Scheme: "postgres", User: url.UserPassword(config.User, config.Password), Host: w.listener.Addr().String(), Path: "/" + config.Database, RawQuery: "sslmode=disable"}
	return w, through.String()
}

func (w *wire) accept(network, address string) {
	for {
		near, err := w.listener.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial(network, address)
		if err != nil {
			_ = near.Close()
			continue
		}
		w.Lock()
		w.made++
		w.Unlock()
		go w.carry(near, far)
		go w.carry(far, near)
	}
}

func (w *wire) carry(to, from net.Conn) {
	defer to.Close()
	defer from.Close()
	chunk := make([]byte, 32<<10)
	for {
		n, err := from.Read(chunk)
		w.RLock()
		_, failed := to.Write(chunk[:n])
		w.RUnlock()
		if err != nil || failed != nil {
			return
		}
	}
}

// A connection that is late is not believed meanwhile, and is not given up: what was said is heard, in its time.
func TestWatch_LateConnectionLosesNothing(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	agent := w.Agent(t)
	slow, address := newWire(t, w.URL)
	listens := pgtest.Open(t, address, db.PoolOptions{MaxConns: 1})
	other, err := store.OpenPooled(t.Context(), w.Pool, listens, w.KEK)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(other.Close)
	heard, states := make(chan store.ChangeEvent, 100), make(chan bool, 100)
	ctx, stop := context.WithCancel(context.Background())
	var watching sync.WaitGroup
	watching.Go(func() {
		_ = other.Watch(ctx, func(n store.ChangeEvent) { heard <- n }, func(now bool) { states <- now })
	})
	t.Cleanup(func() { stop(); watching.Wait() })
	hears(t, states, true)

	slow.Lock()
	made := slow.made
	if _, err := w.Door().Agents().Update(t.Context(), agent); err != nil {
		t.Fatal(err)
	}
	hears(t, states, false)
	slow.Unlock()

	await(t, heard, "an agent", store.ChangeEvent{Kind: "agent", Tenant: w.Tenant, ID: agent.ID.String()})
	hears(t, states, true)
	slow.RLock()
	defer slow.RUnlock()
	if slow.made != made {
		t.Errorf("%d more connections were made", slow.made-made)
	}
}

func TestAConnectionThatIsCutIsReplaced(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	agent := w.Agent(t)
	heard, states := make(chan store.ChangeEvent, 100), make(chan bool, 100)
	ctx, stop := context.WithCancel(context.Background())
	var watching sync.WaitGroup
	other, err := store.Open(t.Context(), w.Pool, w.KEK)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(other.Close)
	watching.Go(func() {
		_ = other.Watch(ctx, func(n store.ChangeEvent) { heard <- n }, func(now bool) { states <- now })
	})
	t.Cleanup(func() { stop(); watching.Wait() })
	hears(t, states, true)

	owner, err := pgx.Connect(t.Context(), w.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer owner.Close(t.Context())
	if _, err := owner.Exec(t.Context(), "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query ~ '^(listen|notify) '"); err != nil {
		t.Fatal(err)
	}
	hears(t, states, false)
	hears(t, states, true)
	if _, err := w.Door().Agents().Update(t.Context(), agent); err != nil {
		t.Fatal(err)
	}
	await(t, heard, "an agent", store.ChangeEvent{Kind: "agent", Tenant: w.Tenant, ID: agent.ID.String()})
}

// hears waits until it is told that notices come in, or that they do not.
func hears(t *testing.T, states <-chan bool, want bool) {
	t.Helper()
	end := time.After(time.Minute)
	for {
		select {
		case now := <-states:
			if now == want {
				return
			}
		case <-end:
			t.Fatalf("it is never told that hearing is %v", want)
		}
	}
}
