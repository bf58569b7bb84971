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

// bench is everything that runs.
type bench struct {
	options
	home     string // of this run, in the parent that the flag names
	upstream *process
	proxy    *process
	patchbay *process
	key      string // of the JSON API
	tokens   map[int]string
	private  string // the address of metrics and profiles
	load     *load
}

// open makes the place for what is to run.
func (o options) open() (*bench, error) {
	home, err := os.MkdirTemp(o.home, "patchbay-bench-")
	if err != nil {
		return nil, err
	}
	b := &bench{options: o, home: home, tokens: map[int]string{}, load: newLoad(o.workers, o.prose)}
	if err := os.Chmod(home, 0o711); err != nil { // as root, PostgreSQL runs as another user
		b.end()
		return nil, err
	}
	return b, nil
}

// begin starts the servers: the MCP server, the proxy before it, and Patchbay with a connector and an agent for each of its lists.
func (o options) begin(ctx context.Context) (*bench, error) {
	b, err := o.open()
	if err != nil {
		return nil, err
	}
	if err := b.startAll(ctx); err != nil {
		b.end()
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
		if err := b.connect(ctx, n); err != nil {
			return err
		}
	}
	b.load.client.CloseIdleConnections() // what set it up asked other addresses: agents' connections are their own
	return nil
}

// startSelf starts another of this program's servers.
func (b *bench) startSelf(ctx context.Context, args ...string) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return start(ctx, nil, self, append([]string{args[0], "-prose=" + strconv.FormatBool(b.prose)}, args[1:]...)...)
}

// startPatchbay starts it on the data that it left, if it has been here before.
func (b *bench) startPatchbay(ctx context.Context) (err error) {
	if b.private, err = freeAddress(ctx); err != nil {
		return err
	}
	env := []string{
		"PATCHBAY_DATA_DIR=" + filepath.Join(b.home, "data"), "PATCHBAY_ADDR=127.0.0.1:0", "PATCHBAY_EGRESS=local", "PATCHBAY_LOG_LEVEL=warn", "PATCHBAY_API_RATE=0", "PATCHBAY_API_TENANT_RATE=0", "PATCHBAY_STRANGER_RATE=0", "PATCHBAY_AGENT_RATE=0", "DATABASE_URL=",
		"PATCHBAY_PRIVATE_ADDR=" + b.private,
	}
	if b.patchbay, err = start(ctx, env, b.program); err != nil || b.key != "" {
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

// freeAddress is one that nobody has, for a server that does not say which it was given.
func freeAddress(ctx context.Context) (string, error) {
	var on net.ListenConfig
	l, err := on.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// connect makes a connector whose server lists n tools, and an agent that may use them all without asking.
func (b *bench) connect(ctx context.Context, n int) error {
	slug := fmt.Sprintf("s%d", n)
	var token struct{ Token string }
	err := errors.Join(
		b.api(ctx, "POST", "/connectors", map[string]any{
			"name": slug, "slug": slug, "url": b.upstream.address + "/" + strconv.Itoa(n), "auth": map[string]any{"type": "bearer", "token": "of-the-upstream"}, "sync_interval_s": 0,
		}, nil),
		b.api(ctx, "POST", "/connectors/"+slug+"/sync_tools", nil, nil),
		b.api(ctx, "POST", "/agents", map[string]any{"name": slug, "slug": slug, "approval": "auto"}, nil),
		b.api(ctx, "PUT", "/agents/"+slug+"/connectors/"+slug, map[string]any{"tools": "all"}, nil),
		b.api(ctx, "POST", "/agents/"+slug+"/tokens", map[string]any{}, &token),
	)
	b.tokens[n] = token.Token
	return err
}

// end stops everything.
func (b *bench) end() {
	for _, p := range []*process{b.patchbay, b.proxy, b.upstream} {
		if p != nil {
			_ = p.end()
		}
	}
	_ = os.RemoveAll(b.home)
}

// ours and theirs are the two sides, for the server with n tools.
func (b *bench) ours(n int) side {
	return side{name: "Patchbay", url: b.patchbay.address + "/mcp", token: b.tokens[n], tool: fmt.Sprintf("mcp_s%d__work", n), server: b.patchbay}
}

func (b *bench) theirs(n int) side {
	return side{name: "proxy", url: b.proxy.address + "/" + strconv.Itoa(n), token: "nobody's", tool: "work", server: b.proxy}
}
