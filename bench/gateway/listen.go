package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/url"
	"time"
)

// listening opens streams on which nothing happens, and tells what each costs the server: twice, since the first ones find a heap that has
// grown for nothing yet, and the garbage of their beginning counts as theirs until it is collected.
func (b *bench) listening(ctx context.Context) error {
	for _, which := range []string{"the first", "as many again, when those had left"} {
		before, after, err := b.listenersCost(ctx)
		if err != nil {
			return err
		}
		each := float64(after-before) / float64(b.listeners) / 1024
		fmt.Fprintf(b.out, "\n%d idle listening agents (%s): %.1f KiB each (resident memory, %d MiB before)\n", b.listeners, which, each, before>>20)
	}
	return nil
}

// listenersCost is the server's memory before and while they listen.
func (b *bench) listenersCost(ctx context.Context) (before, after int64, err error) {
	if before, err = b.settled(ctx); err != nil {
		return 0, 0, err
	}
	var open []net.Conn
	defer func() {
		for _, c := range open {
			_ = c.Close()
		}
	}()
	for i := range b.listeners {
		c, err := b.listen(ctx)
		if err != nil {
			return 0, 0, fmt.Errorf("listener %d: %w", i, err)
		}
		open = append(open, c)
	}
	after, err = b.settled(ctx)
	return before, after, err
}

// still is how much a server's memory may differ between two looks that is taken for still. It never is: heartbeats and the clock make some
// garbage each second, 30 KiB or so, which is collected when the heap has grown to several times its size.
const still = 256 << 10

// settled is the server's memory once it stays about the same.
func (b *bench) settled(ctx context.Context) (int64, error) {
	last := int64(-1 << 32) // far from any
	for {
		now, err := b.patchbay.memory()
		if err != nil || max(now-last, last-now) <= still {
			return now, err
		}
		last = now
		select {
		case <-time.After(2 * time.Second):
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}

// listen opens one stream by hand: an http.Client here would need as much memory as the server.
func (b *bench) listen(ctx context.Context) (net.Conn, error) {
	to, err := url.Parse(b.patchbay.address)
	if err != nil {
		return nil, err
	}
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", to.Host)
	if err != nil {
		return nil, err
	}
	body := `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},` + modernMeta + `}}`
	_, err = fmt.Fprintf(c, "POST /mcp HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"+
		"Mcp-Protocol-Version: 2026-07-28\r\nMcp-Method: subscriptions/listen\r\nContent-Length: %d\r\n\r\n%s", to.Host, b.tokens[20], len(body), body)
	if err != nil {
		return nil, err
	}
	line, err := bufio.NewReaderSize(c, 64).ReadString('\n')
	if err != nil || line != "HTTP/1.1 200 OK\r\n" {
		return nil, fmt.Errorf("%q: %w", line, err)
	}
	return c, nil
}
