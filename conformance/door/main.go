package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"patchbay/conformance/patchbay"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], patchbay.Patchbay{URL: os.Getenv("PATCHBAY_URL"), Key: os.Getenv("PATCHBAY_KEY")}, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run opens all doors, and holds them open until ctx ends.
func run(ctx context.Context, args []string, to patchbay.Patchbay, out io.Writer) error {
	for _, arg := range args {
		name, url, ok := strings.Cut(arg, "=")
		door := assistants(to)
		switch {
		case ok:
			var err error
			if door, err = open(ctx, to, name, url); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		case name != "admin":
			return errors.New("usage: door NAME=URL… admin, with PATCHBAY_URL and PATCHBAY_KEY in the environment")
		}
		at, err := serve(ctx, door)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s %s\n", name, at)
	}
	<-ctx.Done()
	return nil
}

// open makes what has to be there before an agent can call the server's tools. New ones are served at once, without a person who
// accepts them: the suite changes the tools, and waits to be told.
func open(ctx context.Context, to patchbay.Patchbay, name, url string) (patchbay.Door, error) {
	connector := map[string]any{"name": name, "slug": name, "url": url, "timeout_ms": 8000, "retry_attempts": 1, "sync_interval_s": 0, "tool_changes": "auto"}
	if _, err := to.CreateConnector(ctx, connector); err != nil {
		return patchbay.Door{}, fmt.Errorf("create the connector: %w", err)
	}
	if _, err := to.Sync(ctx, name); err != nil {
		return patchbay.Door{}, fmt.Errorf("sync: %w", err)
	}
	if err := to.Listening(ctx, name); err != nil {
		return patchbay.Door{}, err
	}
	return to.OpenDoor(ctx, name, name)
}

// assistants is the door at which Patchbay is a server about itself.
func assistants(to patchbay.Patchbay) patchbay.Door {
	return patchbay.Door{URL: to.URL + "/mcp/admin", Token: to.Key}
}

// serve forwards until ctx ends, and returns where.
func serve(ctx context.Context, door patchbay.Door) (string, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	proxy, err := forward(door, listener.Addr().String())
	if err != nil {
		return "", err
	}
	server := &http.Server{Handler: proxy, BaseContext: func(net.Listener) context.Context { return ctx }}
	go func() { _ = server.Serve(listener) }() // ends with the process
	return "http://" + listener.Addr().String() + "/", nil
}
