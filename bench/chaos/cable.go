package main

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// cable lies between the program and PostgreSQL.
type cable struct {
	listener net.Listener
	dial     func() (net.Conn, error)
	delay    atomic.Int64 // nanoseconds before each part is handed on
	still    atomic.Bool  // nothing is handed on

	mu   sync.Mutex // guards open
	open map[net.Conn]struct{}
	all  sync.WaitGroup
}

func newCable(socket string) (*cable, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it is closed by hand
	if err != nil {
		return nil, err
	}
	c := &cable{listener: listener, open: map[net.Conn]struct{}{}}
	to := net.Dialer{Timeout: 5 * time.Second}
	c.dial = func() (net.Conn, error) { return to.DialContext(context.Background(), "unix", socket) }
	c.all.Go(c.accept)
	return c, nil
}

func (c *cable) accept() {
	for {
		near, err := c.listener.Accept()
		if err != nil {
			return
		}
		far, err := c.dial()
		if err != nil {
			_ = near.Close()
			continue
		}
		c.mu.Lock()
		c.open[near], c.open[far] = struct{}{}, struct{}{}
		c.mu.Unlock()
		for _, pair := range [][2]net.Conn{{near, far}, {far, near}} {
			c.all.Go(func() { c.carry(pair[0], pair[1]) })
		}
	}
}

// carry hands on what comes, until either side has gone.
func (c *cable) carry(to, from net.Conn) {
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, one := range []net.Conn{to, from} {
			_ = one.Close()
			delete(c.open, one)
		}
	}()
	part := make([]byte, 32<<10)
	for {
		n, err := from.Read(part)
		if late := time.Duration(c.delay.Load()); late > 0 {
			<-time.After(late)
		}
		for c.still.Load() {
			<-time.After(5 * time.Millisecond)
		}
		if _, werr := to.Write(part[:n]); err != nil || werr != nil {
			return
		}
	}
}

// cut ends every connection.
func (c *cable) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for one := range c.open {
		_ = one.Close()
	}
}

// count is how many sessions of the database are open.
func (c *cable) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.open) / 2
}

func (c *cable) close() {
	c.still.Store(false)
	c.delay.Store(0)
	_ = c.listener.Close()
	c.cut()
	c.all.Wait()
}
