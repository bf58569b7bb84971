package main

import (
	"context"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// loadBalancer forwards each connection to a process that accepts it.
type loadBalancer struct {
	base     string
	listener net.Listener
	turn     atomic.Int64

	mu         sync.Mutex // guards the fields below
	backends   []string   // addresses of the processes
	conns      map[net.Conn]struct{}
	background sync.WaitGroup
}

func newLoadBalancer(ctx context.Context) (*loadBalancer, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	f := &loadBalancer{base: "http://" + listener.Addr().String(), listener: listener, conns: map[net.Conn]struct{}{}}
	f.background.Go(f.acceptLoop)
	return f, nil
}

func (f *loadBalancer) addBackend(base string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.backends = append(f.backends, strings.TrimPrefix(base, "http://"))
}

func (f *loadBalancer) acceptLoop() {
	for {
		client, err := f.listener.Accept()
		if err != nil {
			return
		}
		f.background.Go(func() { f.forwardConn(client) })
	}
}

func (f *loadBalancer) forwardConn(client net.Conn) {
	server := f.dialBackend()
	if server == nil {
		_ = client.Close()
		return
	}
	f.mu.Lock()
	f.conns[client], f.conns[server] = struct{}{}, struct{}{}
	f.mu.Unlock()
	var copies sync.WaitGroup
	for _, pair := range [][2]net.Conn{{client, server}, {server, client}} {
		copies.Go(func() {
			_, _ = io.Copy(pair[0], pair[1])
			_, _ = pair[0].Close(), pair[1].Close()
		})
	}
	copies.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.conns, client)
	delete(f.conns, server)
}

func (f *loadBalancer) dialBackend() net.Conn {
	f.mu.Lock()
	backends := f.backends
	f.mu.Unlock()
	dialer := net.Dialer{Timeout: time.Second}
	for range backends {
		if server, err := dialer.DialContext(context.Background(), "tcp", backends[int(f.turn.Add(1))%len(backends)]); err == nil {
			return server
		}
	}
	return nil
}

func (f *loadBalancer) close() {
	_ = f.listener.Close()
	f.mu.Lock()
	for conn := range f.conns {
		_ = conn.Close()
	}
	f.mu.Unlock()
	f.background.Wait()
}
