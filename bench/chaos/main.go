package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "chaos:", err)
		os.Exit(1)
	}
}

// options are the flags.
type options struct {
	out      io.Writer
	program  string
	home     string
	length   time.Duration
	replicas int
	seed     uint64
	only     string // only faults with this in their name
}

func run(ctx context.Context, args []string, out io.Writer) error {
	o := options{out: out}
	flags := flag.NewFlagSet("chaos", flag.ContinueOnError)
	flags.StringVar(&o.program, "patchbay", "", "the program; unset: it is built, with a clock that can be moved")
	flags.StringVar(&o.home, "home", "", "where to keep what runs; unset: where temporary files are")
	flags.DurationVar(&o.length, "time", 6*time.Minute, "how long things go wrong; setting up and counting come on top")
	flags.IntVar(&o.replicas, "replicas", 3, "processes of Patchbay")
	flags.Uint64Var(&o.seed, "seed", uint64(time.Now().UnixNano()), "of the order in which things go wrong") //nolint:gosec // never negative
	flags.StringVar(&o.only, "only", "", "let only that go wrong in whose name this stands, as in the table")
	if err := flags.Parse(args); err != nil {
		return err
	}
	return o.runChaos(ctx)
}

// setupTimeout bounds everything besides the faults: setup, recovery, verification, search.
const setupTimeout = 4 * time.Minute

// runChaos sets up, injects faults under load, verifies, and reports.
func (o options) runChaos(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, o.length+setupTimeout)
	defer cancel()
	w, err := o.newWorld(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.tearDown()) }()
	if err := w.setUp(ctx); err != nil {
		return fmt.Errorf("set up: %w", err)
	}
	fmt.Fprintf(o.out, "%d processes, %d tenants, seed %d; things go wrong for %v\n", len(w.replicas), len(w.tenants), o.seed, o.length)
	r := &runReport{world: w}
	if r.before, err = w.idleGoroutines(ctx, 0); err != nil {
		return err
	}
	stop := w.startLoad(ctx)
	r.faults = w.injectFaults(ctx)
	if r.ready = w.waitAllReady(ctx); r.ready {
		w.waitCalm(ctx)
	}
	stop()
	if err := ctx.Err(); err != nil {
		return err
	}
	if r.after, err = w.idleGoroutines(ctx, r.before); err != nil {
		return err
	}
	if err := w.verifyAll(ctx, r); err != nil {
		return err
	}
	r.uncleanStops = w.stopAll()
	r.connections, r.open = w.cable.openSessions(), w.up.open.Load()
	if err := w.searchEverywhere(ctx, r); err != nil {
		return err
	}
	return r.writeTables(o.out)
}
