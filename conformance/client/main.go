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

// patience is slightly less than the suite's limit for one scenario.
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

// run runs one scenario.
func run(ctx context.Context, args []string, env func(string) string, out io.Writer) error {
	if len(args) != 1 {
		return fmt.Errorf("usage: client URL, with MCP_CONFORMANCE_SCENARIO, PATCHBAY_URL and PATCHBAY_KEY in the environment")
	}
	s, err := findScenario(env("MCP_CONFORMANCE_SCENARIO"), env("MCP_CONFORMANCE_CONTEXT"))
	if err != nil {
		return err
	}
	c := scenarioRunner{
		patchbay: patchbay.Patchbay{URL: env("PATCHBAY_URL"), Key: env("PATCHBAY_KEY")},
		server:   args[0], scenario: s, revision: env("MCP_CONFORMANCE_PROTOCOL_VERSION"), out: out,
		owner:        owner{key: env("PATCHBAY_OWNER_KEY"), email: env("CONFORMANCE_EMAIL"), password: env("CONFORMANCE_PASSWORD")},
		workloadFile: env("CONFORMANCE_WORKLOAD_FILE"),
	}
	if err := c.runScenario(ctx); err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	return nil
}
