package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"patchbay/internal/devmcp"
	"patchbay/internal/fault"
	"patchbay/internal/operator"
	"patchbay/internal/safe"
)

// devMCPAddr is the default address of dev-mcp, which seed uses.
const devMCPAddr = "127.0.0.1:9091"

type devMCPCommand struct {
	Addr  string        `default:"127.0.0.1:9091" placeholder:"HOST:PORT" help:"Loopback address to listen on (${default})."`
	Mode  string        `default:"json" placeholder:"MODE" help:"Mode of /mcp (${default}). Each mode also has its own path."`
	Tools int           `placeholder:"N" help:"Number of tools. Unset: a dozen."`
	Token string        `placeholder:"TOKEN" help:"Token for the modes that require one. Unset: ${dev_token}."`
	Delay time.Duration `placeholder:"TIME" help:"Delay of each response in slow mode. Unset: 3s."`
}

// Run serves until it is interrupted.
func (c devMCPCommand) Run(ctx context.Context, p operator.IO) error {
	if err := c.checkAddress(); err != nil {
		return err
	}
	listener, err := listenOn(ctx, "--addr", c.Addr)
	if err != nil {
		return err
	}
	c.printAddress(p, listener.Addr())
	server := &http.Server{
		Handler:           devmcp.Handler(devmcp.Options{Mode: c.Mode, Tools: c.Tools, Token: c.Token, Delay: c.Delay}),
		ReadHeaderTimeout: readHeaderTimeout,
	}
	stopped := context.AfterFunc(ctx, safe.Func(safe.Timer, func() { _ = server.Close() }))
	defer stopped()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve dev-mcp: %w", err)
	}
	return nil
}

// checkAddress allows loopback only: the tokens are public, and there is no authentication beyond them.
func (c devMCPCommand) checkAddress() error {
	host, _, err := net.SplitHostPort(c.Addr)
	if err != nil {
		return fault.Errorf(fault.Invalid, "--addr must be HOST:PORT, such as %s, not %q.", devMCPAddr, c.Addr)
	}
	if ip, err := netip.ParseAddr(host); host != "localhost" && (err != nil || !ip.IsLoopback()) {
		return fault.Errorf(fault.Invalid, "--addr must be loopback, such as %s: dev-mcp has no access control.", devMCPAddr)
	}
	var names []string
	for _, mode := range devmcp.Modes {
		if mode.Name == c.Mode {
			return nil
		}
		names = append(names, mode.Name)
	}
	return fault.Errorf(fault.Invalid, "--mode must be one of %s, not %q.", strings.Join(names, ", "), c.Mode)
}

func (c devMCPCommand) printAddress(p operator.IO, addr net.Addr) {
	_, _ = fmt.Fprintf(p.Stdout, "A small MCP server. Use one of these URLs for a connector:\n")
	for _, mode := range devmcp.Modes {
		_, _ = fmt.Fprintf(p.Stdout, "  %-32s %s\n", "http://"+addr.String()+mode.Path, mode.Sentence)
	}
}
