package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"patchbay/internal/mcp"
	"patchbay/internal/safehttp"
)

// patience is a little less than what the suite grants one scenario.
const patience = 115 * time.Second

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	ctx, cancel := context.WithTimeout(ctx, patience)
	err := run(ctx, os.Args[1:], os.Getenv)
	cancel()
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// stepUp is about a call that is refused for want of a scope.
const stepUp = "auth/scope-step-up"

// run plays one scenario.
func run(ctx context.Context, args []string, env func(string) string) error {
	if len(args) != 1 {
		return fmt.Errorf("usage: direct URL, with MCP_CONFORMANCE_SCENARIO in the environment")
	}
	name := env("MCP_CONFORMANCE_SCENARIO")
	if strings.HasPrefix(name, "auth/") && name != stepUp {
		return signIn(ctx, args[0])
	}
	d := &mcp.Dialer{HTTP: safehttp.New(safehttp.Options{Mode: safehttp.Local}).Client(), Version: "conformance"}
	if name == stepUp {
		return playWithAccount(ctx, d, args[0])
	}
	s, err := d.Dial(ctx, mcp.Target{URL: args[0], Capabilities: json.RawMessage(`{"elicitation":{}}`)})
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	defer s.Close(ctx)
	p := player{session: s, given: []byte(env("MCP_CONFORMANCE_CONTEXT"))}
	if err := p.play(ctx, name); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// signIn runs the program that signs in, which conformance/run builds beside this one.
func signIn(ctx context.Context, url string) error {
	here, err := os.Executable()
	if err != nil {
		return err
	}
	client := exec.CommandContext(ctx, filepath.Join(filepath.Dir(here), "conformance-client"), url)
	client.Stdout, client.Stderr = os.Stdout, os.Stderr
	return client.Run()
}
