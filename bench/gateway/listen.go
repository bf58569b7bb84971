package main

import (
	"context"
	"fmt"
	"net"
)

// Warm-up before listeners are measured, to exclude a server's one-time costs.
const (
	warmCalls     = 500
	warmListeners = 50
)

// measureListeners prints the cost of idle listener streams, with a fresh process per era.
func (b *bench) measureListeners(ctx context.Context) error {
	fmt.Fprintln(b.out, "\n| idle agents that listen | heap in use of each, after a collection | stacks of each | resident memory of each | resident before |\n|---|---|---|---|---|")
	for _, kind := range listenMethods {
		before, after, err := b.listenerCost(ctx, kind)
		if err != nil {
			return err
		}
		each := func(bytes int64) float64 { return float64(bytes) / float64(b.listeners) / 1024 }
		fmt.Fprintf(b.out, "| %d, %s | %.1f KiB | %.1f KiB | %.1f KiB | %d MiB |\n", b.listeners, kind.name,
			each(after.heap-before.heap), each(after.stacks-before.stacks), each(after.resident-before.resident), before.resident>>20)
	}
	return nil
}

// listenerCost returns the server's state before and with listeners.
func (b *bench) listenerCost(ctx context.Context, kind listenMethod) (before, after processState, err error) {
	if err = b.patchbay.stop(); err != nil {
		return before, after, fmt.Errorf("Patchbay ended: %w", err)
	}
	if err = b.startPatchbay(ctx); err != nil {
		return before, after, err
	}
	if _, err = b.load.run(ctx, b.patchbaySide(20), callKinds[0], warmCalls); err != nil {
		return before, after, err
	}
	if _, err = b.stateWith(ctx, kind, warmListeners); err != nil { // also runs the garbage collector
		return before, after, err
	}
	if before, err = b.readState(ctx); err != nil {
		return before, after, err
	}
	after, err = b.stateWith(ctx, kind, b.listeners)
	return before, after, err
}

// stateWith returns the server's state with n open listeners.
func (b *bench) stateWith(ctx context.Context, kind listenMethod, n int) (processState, error) {
	var open []net.Conn
	defer func() {
		for _, c := range open {
			_ = c.Close()
		}
	}()
	for i := range n {
		c, err := openListener(ctx, kind, b, b.tokens[20])
		if err != nil {
			return processState{}, fmt.Errorf("listener %d: %w", i, err)
		}
		open = append(open, c)
	}
	if b.profile != "" {
		if err := b.saveProfile(ctx, "heap?gc=1", "listen-"+kind.short+".pprof"); err != nil {
			return processState{}, err
		}
	}
	return b.readState(ctx)
}
