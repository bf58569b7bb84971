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

// run serves all endpoints until ctx ends.
func run(ctx context.Context, args []string, to patchbay.Patchbay, out io.Writer) error {
	for _, arg := range args {
		endpoint, names, err := openEndpoint(ctx, to, arg)
		if err != nil {
			return fmt.Errorf("%s: %w", arg, err)
		}
		at, err := serveEndpoint(ctx, endpoint, names)
		if err != nil {
			return err
		}
		name, _, _ := strings.Cut(arg, "=")
		fmt.Fprintf(out, "%s %s\n", name, at)
	}
	<-ctx.Done()
	return nil
}

// openEndpoint creates what an argument asks for. At the address of all connectors, names are those of the first one.
func openEndpoint(ctx context.Context, to patchbay.Patchbay, arg string) (patchbay.Endpoint, *exposedNames, error) {
	name, behind, ok := strings.Cut(arg, "=")
	switch {
	case ok && strings.Contains(behind, "://"):
		endpoint, err := openConnector(ctx, to, name, behind)
		return endpoint, nil, err
	case ok:
		slugs := strings.Split(behind, "+")
		endpoint, err := to.CreateAggregateAgent(ctx, slugs, name)
		return endpoint, &exposedNames{slug: slugs[0]}, err
	case name == "admin":
		return adminEndpoint(to), nil, nil
	}
	return patchbay.Endpoint{}, nil, errors.New("usage: door NAME=URL… NAME=SLUG+SLUG… admin, with PATCHBAY_URL and PATCHBAY_KEY in the environment")
}

// openConnector creates and syncs the connector, and creates its agent. Changed tools are served without a
// review, because the suite changes them and waits for the notification.
func openConnector(ctx context.Context, to patchbay.Patchbay, name, url string) (patchbay.Endpoint, error) {
	connector := map[string]any{"name": name, "slug": name, "url": url, "timeout_ms": 8000, "retry_attempts": 1, "sync_interval_s": 0, "tool_changes": "auto"}
	if _, err := to.CreateConnector(ctx, connector); err != nil {
		return patchbay.Endpoint{}, fmt.Errorf("create the connector: %w", err)
	}
	if _, err := to.Sync(ctx, name); err != nil {
		return patchbay.Endpoint{}, fmt.Errorf("sync: %w", err)
	}
	if err := to.AwaitListening(ctx, name); err != nil {
		return patchbay.Endpoint{}, err
	}
	return to.CreateAgent(ctx, name, name)
}

// adminEndpoint is Patchbay's own MCP server.
func adminEndpoint(to patchbay.Patchbay) patchbay.Endpoint {
	return patchbay.Endpoint{URL: to.URL + "/mcp/admin", Token: to.Key}
}

// serveEndpoint forwards until ctx ends, and returns the URL.
func serveEndpoint(ctx context.Context, endpoint patchbay.Endpoint, names *exposedNames) (string, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	proxy, err := newForwarder(endpoint, names, listener.Addr().String())
	if err != nil {
		return "", err
	}
	server := &http.Server{Handler: proxy, BaseContext: func(net.Listener) context.Context { return ctx }}
	go func() { _ = server.Serve(listener) }() // ends with the process
	return "http://" + listener.Addr().String() + "/", nil
}
