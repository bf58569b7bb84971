package main

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// dbProxy forwards connections to PostgreSQL, with faults.
type dbProxy struct {
	listener net.Listener
	dial     func() (net.Conn, error)
	delay    atomic.Int64 // nanoseconds before each write
	paused   atomic.Bool  // nothing is forwarded

	mu         sync.Mutex // guards conns
	conns      map[net.Conn]struct{}
	background sync.WaitGroup
}

func newDBProxy(socket string) (*dbProxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it is closed by hand
	if err != nil {
		return nil, err
	}
	c := &dbProxy{listener: listener, conns: map[net.Conn]struct{}{}}
	dialer := net.Dialer{Timeout: 5 * time.Second}
	c.dial = func() (net.Conn, error) { return dialer.DialContext(context.Background(), "unix", socket) }
	c.background.Go(c.acceptLoop)
	return c, nil
}

func (c *dbProxy) acceptLoop() {
	for {
		client, err := c.listener.Accept()
		if err != nil {
			return
		}
		server, err := c.dial()
		if err != nil {
			_ = client.Close()
			continue
		}
		c.mu.Lock()
		c.conns[client], c.conns[server] = struct{}{}, struct{}{}
		c.mu.Unlock()
		for _, pair := range [][2]net.Conn{{client, server}, {server, client}} {
			c.background.Go(func() { c.copyDelayed(pair[0], pair[1]) })
		}
	}
}

// copyDelayed forwards until either side closes.
func (c *dbProxy) copyDelayed(to, from net.Conn) {
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, conn := range []net.Conn{to, from} {
			_ = conn.Close()
			delete(c.conns, conn)
		}
	}()
	part := make([]byte, 32<<10)
	for {
		n, err := from.Read(part)
		if delay := time.Duration(c.delay.Load()); delay > 0 {
			<-time.After(delay)
		}
		for c.paused.Load() {
			<-time.After(5 * time.Millisecond)
		}
		if _, werr := to.Write(part[:n]); err != nil || werr != nil {
			return
		}
	}
}

func (c *dbProxy) closeConns() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for conn := range c.conns {
		_ = conn.Close()
	}
}

// openSessions is the number of open database sessions.
func (c *dbProxy) openSessions() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.conns) / 2
}

func (c *dbProxy) close() {
	c.paused.Store(false)
	c.delay.Store(0)
	_ = c.listener.Close()
	c.closeConns()
	c.background.Wait()
}
