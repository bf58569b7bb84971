package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"patchbay/conformance/patchbay"
)

// patience is a little less than what the suite grants one scenario.
const patience = 115 * time.Second

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	ctx, cancel := context.WithTimeout(ctx, patience)
	err := run(ctx, os.Args[1:], os.Getenv, os.Stdout)
	cancel()
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run plays one scenario.
func run(ctx context.Context, args []string, env func(string) string, out io.Writer) error {
	if len(args) != 1 {
		return fmt.Errorf("usage: client URL, with MCP_CONFORMANCE_SCENARIO, PATCHBAY_URL and PATCHBAY_KEY in the environment")
	}
	s, err := find(env("MCP_CONFORMANCE_SCENARIO"), env("MCP_CONFORMANCE_CONTEXT"))
	if err != nil {
		return err
	}
	c := colleague{
		patchbay: patchbay.Patchbay{URL: env("PATCHBAY_URL"), Key: env("PATCHBAY_KEY")},
		server:   args[0], scenario: s, revision: env("MCP_CONFORMANCE_PROTOCOL_VERSION"), out: out,
	}
	if err := c.play(ctx); err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	return nil
}
