package store_test

import (
	"context"
	"net"
	"net/url"
	"sync"
	"testing"

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
func TestWhatIsSaidWhileTheConnectionIsLateIsHeard(t *testing.T) {
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
	heard, states := make(chan store.Notice, 100), make(chan bool, 100)
	ctx, stop := context.WithCancel(context.Background())
	var watching sync.WaitGroup
	watching.Go(func() {
		_ = other.Watch(ctx, func(n store.Notice) { heard <- n }, func(now bool) { states <- now })
	})
	t.Cleanup(func() { stop(); watching.Wait() })
	if !<-states {
		t.Fatal("it begins with not hearing")
	}

	slow.Lock()
	made := slow.made
	if _, err := w.Door().UpdateAgent(t.Context(), agent); err != nil {
		t.Fatal(err)
	}
	if <-states {
		t.Error("a connection on which nothing moves is believed")
	}
	slow.Unlock()

	await(t, heard, "an agent", store.Notice{Kind: "agent", Tenant: w.Tenant, ID: agent.ID.String()})
	if !<-states {
		t.Error("it is not believed when it moves again")
	}
	slow.RLock()
	defer slow.RUnlock()
	if slow.made != made {
		t.Errorf("%d more connections were made", slow.made-made)
	}
}
