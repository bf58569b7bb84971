package main

import (
	"context"
	"io"
	"net"
	"sync"
	"sync/atomic"
)

// crowd are agents of both eras that listen.
type crowd struct {
	soak    *soak
	open    []net.Conn
	readers sync.WaitGroup
	leaving atomic.Bool
	dropped atomic.Int64
}

func newCrowd(s *soak) *crowd { return &crowd{soak: s} }

// join opens so many streams, half of them in each era. Those of the handshake era have a session each.
func (c *crowd) join(ctx context.Context, n int) error {
	for i := range n {
		a := c.soak.agents[i%len(c.soak.agents)]
		conn, err := listenBy(ctx, listeningKinds[i/len(c.soak.agents)%len(listeningKinds)], c.soak.bench, a.token)
		if err != nil {
			return err
		}
		c.open = append(c.open, conn)
		c.readers.Go(func() {
			_, _ = io.Copy(io.Discard, conn)
			if !c.leaving.Load() {
				c.dropped.Add(1)
			}
		})
	}
	return nil
}

// leave ends the streams, and tells how many had ended before.
func (c *crowd) leave() int {
	c.leaving.Store(true)
	for _, conn := range c.open {
		_ = conn.Close()
	}
	c.readers.Wait()
	return int(c.dropped.Load())
}
