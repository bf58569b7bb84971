package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// bench holds the processes of a run.
type bench struct {
	options
	home           string // directory of this run, below the flag's
	upstream       *serverProcess
	proxy          *serverProcess
	patchbay       *serverProcess
	key            string // JSON API key
	tokens         map[int]string
	apiToken       string
	privateAddress string // for metrics and profiles
	load           *loadGenerator
}

// newBench creates the directory of a run.
func (o options) newBench() (*bench, error) {
	home, err := os.MkdirTemp(o.home, "patchbay-bench-")
	if err != nil {
		return nil, err
	}
	b := &bench{options: o, home: home, tokens: map[int]string{}, load: newLoad(o.workers, o.prose)}
	if err := os.Chmod(home, 0o711); err != nil { // PostgreSQL does not run as root
		b.stopAll()
		return nil, err
	}
	return b, nil
}

// startBench starts the MCP server, the proxy, and Patchbay with a connector and an agent per list size.
func (o options) startBench(ctx context.Context) (*bench, error) {
	b, err := o.newBench()
	if err != nil {
		return nil, err
	}
	if err := b.startAll(ctx); err != nil {
		b.stopAll()
		return nil, err
	}
	return b, nil
}

func (b *bench) startAll(ctx context.Context) (err error) {
	if b.upstream, err = b.startSelf(ctx, "upstream"); err != nil {
		return err
	}
	if b.proxy, err = b.startSelf(ctx, "proxy", b.upstream.address); err != nil {
		return err
	}
	if err := b.startPatchbay(ctx); err != nil {
		return err
	}
	for _, n := range listSizes {
		if err := b.addConnector(ctx, n); err != nil {
			return err
		}
	}
	if err := b.addAPI(ctx); err != nil {
		return err
	}
	b.load.client.CloseIdleConnections() // drops the connections of the setup
	return nil
}

// startSelf starts another command of this program.
func (b *bench) startSelf(ctx context.Context, args ...string) (*serverProcess, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return startProcess(ctx, nil, self, append([]string{args[0], "-prose=" + strconv.FormatBool(b.prose)}, args[1:]...)...)
}

// startPatchbay starts Patchbay on the run's data directory.
func (b *bench) startPatchbay(ctx context.Context) (err error) {
	if b.privateAddress, err = freeAddress(ctx); err != nil {
		return err
	}
	env := []string{
		"PATCHBAY_DATA_DIR=" + filepath.Join(b.home, "data"), "PATCHBAY_ADDR=127.0.0.1:0", "PATCHBAY_EGRESS=local", "PATCHBAY_LOG_LEVEL=warn", "PATCHBAY_API_RATE=0", "PATCHBAY_API_TENANT_RATE=0", "PATCHBAY_STRANGER_RATE=0", "PATCHBAY_AGENT_RATE=0", "DATABASE_URL=",
		"PATCHBAY_PRIVATE_ADDR=" + b.privateAddress,
	}
	if b.patchbay, err = startProcess(ctx, env, b.program); err != nil || b.key != "" {
		return err
	}
	key := exec.CommandContext(ctx, b.program, "apikey", "create", "--tenant", "default", "--role", "owner", "--name", "bench") //nolint:gosec // the program that is measured
	key.Env = append(os.Environ(), env...)
	text, err := key.Output()
	b.key = strings.TrimSpace(string(text))
	if err != nil {
		return fmt.Errorf("make an API key: %w", err)
	}
	return nil
}

// freeAddress returns a free loopback address, for a server that does not print its own.
func freeAddress(ctx context.Context) (string, error) {
	var on net.ListenConfig
	l, err := on.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// addConnector creates a connector with n tools and an agent that may call them without approval.
func (b *bench) addConnector(ctx context.Context, n int) error {
	slug := fmt.Sprintf("s%d", n)
	var token struct{ Token string }
	err := errors.Join(
		b.callAPI(ctx, "POST", "/connectors", map[string]any{
			"name": slug, "slug": slug, "url": b.upstream.address + "/" + strconv.Itoa(n), "auth": map[string]any{"type": "bearer", "token": "of-the-upstream"}, "sync_interval_s": 0,
		}, nil),
		b.callAPI(ctx, "POST", "/connectors/"+slug+"/sync_tools", nil, nil),
		b.callAPI(ctx, "POST", "/agents", map[string]any{"name": slug, "slug": slug, "approval": "auto"}, nil),
		b.callAPI(ctx, "PUT", "/agents/"+slug+"/connectors/"+slug, map[string]any{"tools": "all"}, nil),
		b.callAPI(ctx, "POST", "/agents/"+slug+"/tokens", map[string]any{}, &token),
	)
	b.tokens[n] = token.Token
	return err
}

func (b *bench) stopAll() {
	for _, p := range []*serverProcess{b.patchbay, b.proxy, b.upstream} {
		if p != nil {
			_ = p.stop()
		}
	}
	_ = os.RemoveAll(b.home)
}

// patchbaySide and proxySide are the two targets for the server with n tools.
func (b *bench) patchbaySide(n int) target {
	return target{name: "Patchbay", url: b.patchbay.address + "/mcp", token: b.tokens[n], tool: fmt.Sprintf("mcp_s%d__work", n), server: b.patchbay}
}

func (b *bench) proxySide(n int) target {
	return target{name: "proxy", url: b.proxy.address + "/" + strconv.Itoa(n), token: "nobody's", tool: "work", server: b.proxy}
}
