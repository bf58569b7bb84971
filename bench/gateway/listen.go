package main

import (
	"context"
	"fmt"
	"net"
)

// Before listeners are measured some calls are made, and some listeners come and go: what a server does for the first time is no
// listener's cost.
const (
	warmCalls     = 500
	warmListeners = 50
)

// listening opens streams on which nothing happens, and tells what each costs the server: in a process of its own for each era, which has done
// little before.
func (b *bench) listening(ctx context.Context) error {
	fmt.Fprintln(b.out, "\n| idle agents that listen | heap in use of each, after a collection | stacks of each | resident memory of each | resident before |\n|---|---|---|---|---|")
	for _, kind := range listeningKinds {
		before, after, err := b.listenersCost(ctx, kind)
		if err != nil {
			return err
		}
		each := func(bytes int64) float64 { return float64(bytes) / float64(b.listeners) / 1024 }
		fmt.Fprintf(b.out, "| %d, %s | %.1f KiB | %.1f KiB | %.1f KiB | %d MiB |\n", b.listeners, kind.name,
			each(after.heap-before.heap), each(after.stacks-before.stacks), each(after.resident-before.resident), before.resident>>20)
	}
	return nil
}

// listenersCost is the server's state before and while they listen.
func (b *bench) listenersCost(ctx context.Context, kind listeningKind) (before, after state, err error) {
	if err = b.patchbay.end(); err != nil {
		return before, after, fmt.Errorf("Patchbay ended: %w", err)
	}
	if err = b.startPatchbay(ctx); err != nil {
		return before, after, err
	}
	if _, err = b.load.run(ctx, b.ours(20), calls[0], warmCalls); err != nil {
		return before, after, err
	}
	if _, err = b.stateWith(ctx, kind, warmListeners); err != nil { // which collects, too
		return before, after, err
	}
	if before, err = b.state(ctx); err != nil {
		return before, after, err
	}
	after, err = b.stateWith(ctx, kind, b.listeners)
	return before, after, err
}

// stateWith is the server's state while so many listen.
func (b *bench) stateWith(ctx context.Context, kind listeningKind, n int) (state, error) {
	var open []net.Conn
	defer func() {
		for _, c := range open {
			_ = c.Close()
		}
	}()
	for i := range n {
		c, err := listenBy(ctx, kind, b, b.tokens[20])
		if err != nil {
			return state{}, fmt.Errorf("listener %d: %w", i, err)
		}
		open = append(open, c)
	}
	if b.profile != "" {
		if err := b.fetch(ctx, "heap?gc=1", "listen-"+kind.short+".pprof"); err != nil {
			return state{}, err
		}
	}
	return b.state(ctx)
}
