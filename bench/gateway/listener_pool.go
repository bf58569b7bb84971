package main

import (
	"context"
	"io"
	"net"
	"sync"
	"sync/atomic"
)

// listenerPool holds the listener streams of agents of both protocol eras.
type listenerPool struct {
	run       *soakRun
	open      []net.Conn
	readers   sync.WaitGroup
	isClosing atomic.Bool
	dropped   atomic.Int64
}

func newListenerPool(s *soakRun) *listenerPool { return &listenerPool{run: s} }

// openStreams opens n streams, half of them per era. Each legacy stream has its own session.
func (c *listenerPool) openStreams(ctx context.Context, n int) error {
	for i := range n {
		a := c.run.agents[i%len(c.run.agents)]
		conn, err := openListener(ctx, listenMethods[i/len(c.run.agents)%len(listenMethods)], c.run.bench, a.token)
		if err != nil {
			return err
		}
		c.open = append(c.open, conn)
		c.readers.Go(func() {
			_, _ = io.Copy(io.Discard, conn)
			if !c.isClosing.Load() {
				c.dropped.Add(1)
			}
		})
	}
	return nil
}

// closeStreams closes the streams and returns how many had ended before.
func (c *listenerPool) closeStreams() int {
	c.isClosing.Store(true)
	for _, conn := range c.open {
		_ = conn.Close()
	}
	c.readers.Wait()
	return int(c.dropped.Load())
}
