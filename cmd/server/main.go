package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"patchbay/internal/mcp"
	"patchbay/internal/operator"
	"patchbay/internal/safe"
)

func main() {
	mcp.Launch(os.Args) // as a launcher of a connector's program
	setMemProfileRate()
	protectMemory() // before any key is read
	// net/http's client logs unsolicited data of a server to the standard logger, word for word. Patchbay's own
	// loggers are created explicitly.
	slog.SetDefault(slog.New(slog.DiscardHandler))
	safe.SetLogger(slog.New(slog.NewTextHandler(os.Stderr, nil))) // until the settings are read
	ctx, end := context.WithCancel(context.Background())
	safe.Go(safe.Task, func() { handleSignals(end) })
	os.Exit(run(ctx, os.Args[1:], operator.IO{
		Stdin:   os.Stdin,
		Stdout:  os.Stdout,
		Stderr:  os.Stderr,
		Environ: os.Environ(),
	}))
}

// handleSignals cancels the program's context at the first signal and ends the process at the second. The
// embedded PostgreSQL then notices the exit and stops by itself.
func handleSignals(end context.CancelFunc) {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	<-signals
	end()
	<-signals
	fmt.Fprintln(os.Stderr, "patchbay: stopped by a second signal.")
	os.Exit(exitFailed)
}
