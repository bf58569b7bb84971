package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"patchbay/internal/safe"
)

func main() {
	profileSeldom()
	hideMemory() // before anything is read that is a key
	// net/http's client tells the standard logger what a remote server sent unasked, word for word. Our own log is made by hand.
	slog.SetDefault(slog.New(slog.DiscardHandler))
	safe.SetLogger(slog.New(slog.NewTextHandler(os.Stderr, nil))) // until there is one by the settings
	ctx, end := context.WithCancel(context.Background())
	safe.Go(safe.Task, func() { hearSignals(end) })
	os.Exit(run(ctx, os.Args[1:], program{
		stdin:   os.Stdin,
		stdout:  os.Stdout,
		stderr:  os.Stderr,
		environ: os.Environ(),
	}))
}

// hearSignals ends the program's work at the first signal, and the program itself at the second: whoever sends two does
// not want to wait. The embedded PostgreSQL then hears of our death and stops by itself.
func hearSignals(end context.CancelFunc) {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	<-signals
	end()
	<-signals
	fmt.Fprintln(os.Stderr, "patchbay: ended by a second signal.")
	os.Exit(exitFailed)
}
