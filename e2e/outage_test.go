//go:build e2e

package e2e_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"patchbay/internal/testing/pgtest"
)

// cable is a connection to a database that can be pulled out and put back.
type cable struct {
	listener net.Listener
	dial     func() (net.Conn, error)

	mu     sync.Mutex // guards all that follows
	pulled bool
	open   map[net.Conn]struct{}
}

// newCable returns the cable and the address of the database through it.
func newCable(t *testing.T, database string) (*cable, string) {
	t.Helper()
	config, err := pgx.ParseConfig(database)
	if err != nil {
		t.Fatal(err)
	}
	network, address := pgconn.NetworkAddress(config.Host, config.Port)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cable{
		listener: listener,
		dial:     func() (net.Conn, error) { return net.DialTimeout(network, address, 5*time.Second) },
		open:     map[net.Conn]struct{}{},
	}
	var running sync.WaitGroup
	running.Go(func() { c.accept(&running) })
	t.Cleanup(func() {
		_ = listener.Close()
		c.pull()
		running.Wait()
	})
	through := url.URL{
		Scheme: "postgres", User: url.UserPassword(config.User, config.Password), Host: listener.Addr().String(),
		Path: "/" + config.Database, RawQuery: "sslmode=disable",
	}
	return c, through.String()
}

func (c *cable) accept(running *sync.WaitGroup) {
	for {
		near, err := c.listener.Accept()
		if err != nil {
			return
		}
		far, err := c.dial()
		if err != nil || !c.keep(near, far) {
			_ = near.Close()
			if far != nil {
				_ = far.Close()
			}
			continue
		}
		for _, pair := range [][2]net.Conn{{near, far}, {far, near}} {
			running.Go(func() {
				_, _ = io.Copy(pair[0], pair[1])
				_ = pair[0].Close()
				_ = pair[1].Close()
			})
		}
	}
}

// keep is false while the cable is pulled.
func (c *cable) keep(conns ...net.Conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pulled {
		return false
	}
	for _, conn := range conns {
		c.open[conn] = struct{}{}
	}
	return true
}

func (c *cable) pull() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pulled = true
	for conn := range c.open {
		_ = conn.Close()
	}
	clear(c.open)
}

func (c *cable) plugIn() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pulled = false
}

func TestDatabaseOutageIsSaidAndOvercome(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	wire, address := newCable(t, pgtest.URL(t))
	h.env = append(h.env, "PATCHBAY_KEYSET="+h.run("keys", "new"), "DATABASE_URL="+address)
	s := h.serve()
	c := client{t: t, base: s.base, key: h.run("apikey", "create", "--tenant", "default", "--role", "viewer", "--name", "tests")}
	c.must(http.StatusOK, http.MethodGet, "/api/v1/connectors", nil)

	wire.pull()
	eventually(t, func() error { return s.readyz(http.StatusServiceUnavailable) })
	if status, answer := c.call(http.MethodGet, "/api/v1/connectors", nil); status != http.StatusServiceUnavailable {
		t.Errorf("a program is answered %d: %v", status, answer)
	}
	for _, path := range []string{"/login", "/connectors"} {
		p := newPerson(t)
		p.visited(s.base)
		if shown := p.get(s.base + path); shown.status >= 500 && shown.status != http.StatusServiceUnavailable {
			t.Errorf("%s answers a person %d: %s", path, shown.status, shown.body)
		}
	}
	if health := newPerson(t).get(s.base + "/healthz"); health.status != http.StatusOK {
		t.Errorf("/healthz answers %d: the process is well", health.status)
	}

	wire.plugIn()
	eventually(t, func() error { return s.readyz(http.StatusOK) })
	c.must(http.StatusOK, http.MethodGet, "/api/v1/connectors", nil)
	if code := s.terminate(); code != 0 {
		t.Errorf("the server ended with %d", code)
	}
}

// visited gives the person a session cookie that has to be looked up.
func (p *person) visited(base string) {
	p.t.Helper()
	u, err := url.Parse(base)
	if err != nil {
		p.t.Fatal(err)
	}
	p.client.Jar.SetCookies(u, []*http.Cookie{{Name: "patchbay", Value: fmt.Sprintf("%043d", 0), Path: "/"}})
}
