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

// front is what stands at the address that people use: it hands each connection to a process that takes one.
type front struct {
	base     string
	listener net.Listener
	turn     atomic.Int64

	mu       sync.Mutex // guards what follows
	behind   []string   // where the processes listen
	open     map[net.Conn]struct{}
	carriers sync.WaitGroup
}

func newFront(ctx context.Context) (*front, error) {
	var on net.ListenConfig
	listener, err := on.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	f := &front{base: "http://" + listener.Addr().String(), listener: listener, open: map[net.Conn]struct{}{}}
	f.carriers.Go(f.accept)
	return f, nil
}

func (f *front) add(base string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.behind = append(f.behind, strings.TrimPrefix(base, "http://"))
}

func (f *front) accept() {
	for {
		near, err := f.listener.Accept()
		if err != nil {
			return
		}
		f.carriers.Go(func() { f.hand(near) })
	}
}

func (f *front) hand(near net.Conn) {
	far := f.dial()
	if far == nil {
		_ = near.Close()
		return
	}
	f.mu.Lock()
	f.open[near], f.open[far] = struct{}{}, struct{}{}
	f.mu.Unlock()
	var both sync.WaitGroup
	for _, pair := range [][2]net.Conn{{near, far}, {far, near}} {
		both.Go(func() {
			_, _ = io.Copy(pair[0], pair[1])
			_, _ = pair[0].Close(), pair[1].Close()
		})
	}
	both.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.open, near)
	delete(f.open, far)
}

func (f *front) dial() net.Conn {
	f.mu.Lock()
	behind := f.behind
	f.mu.Unlock()
	to := net.Dialer{Timeout: time.Second}
	for range behind {
		if far, err := to.DialContext(context.Background(), "tcp", behind[int(f.turn.Add(1))%len(behind)]); err == nil {
			return far
		}
	}
	return nil
}

func (f *front) close() {
	_ = f.listener.Close()
	f.mu.Lock()
	for one := range f.open {
		_ = one.Close()
	}
	f.mu.Unlock()
	f.carriers.Wait()
}
