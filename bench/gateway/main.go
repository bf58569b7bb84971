package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "gateway:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	name := "run"
	if len(args) > 0 {
		name, args = args[0], args[1:]
	}
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	o := options{out: out}
	flags.StringVar(&o.program, "patchbay", "bin/patchbay", "the program")
	flags.StringVar(&o.home, "home", "", "where to keep the data of the run; unset: where temporary files are")
	flags.IntVar(&o.rounds, "rounds", 7, "turns of each side")
	flags.IntVar(&o.calls, "calls", 10_000, "calls of a turn, or of the whole soak")
	flags.IntVar(&o.workers, "workers", 16, "calls at a time")
	flags.IntVar(&o.listeners, "listeners", 1000, "idle agents that listen")
	flags.StringVar(&o.only, "only", "", "measure these alone: call, relay, api, list, listen; with commas between them")
	flags.StringVar(&o.profile, "profile", "", "write CPU profiles of Patchbay to this directory")
	flags.Float64Var(&o.maxAPIRatio, "max-api-ratio", 0, "fail if a call of an HTTP API costs more than this times the CPU of one of an MCP server; 0: never")
	flags.BoolVar(&o.prose, "prose", false, "results are words in an order that does not come again, and not one number again and again")
	if err := flags.Parse(args); err != nil {
		return err
	}
	switch name {
	case "run":
		return o.measureAll(ctx)
	case "soak":
		return o.runSoak(ctx)
	case "profile":
		return o.profileOurs(ctx)
	case "upstream":
		return serveUpstream(ctx, o.prose, out)
	case "mock":
		return serveMock(ctx, out)
	case "proxy":
		return serveProxy(ctx, flags.Arg(0), out)
	default:
		return fmt.Errorf("no command %q", name)
	}
}

// options are the command's flags.
type options struct {
	out         io.Writer
	program     string
	home        string
	rounds      int
	calls       int
	workers     int
	listeners   int
	only        string
	profile     string
	prose       bool
	maxAPIRatio float64
}
