package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// bench is everything that runs.
type bench struct {
	options
	home     string
	upstream *process
	proxy    *process
	patchbay *process
	key      string // of the JSON API
	tokens   map[int]string
	private  string // the address of metrics and profiles
	load     *load
}

// begin starts the servers: the MCP server, the proxy before it, and Patchbay with a connector and an agent for each of its lists.
func (o options) begin(ctx context.Context) (b *bench, err error) {
	b = &bench{options: o, tokens: map[int]string{}, load: newLoad(o.workers)}
	defer func() {
		if err != nil {
			b.end()
		}
	}()
	if b.home, err = os.MkdirTemp("", "patchbay-bench-"); err != nil {
		return b, err
	}
	if err = os.Chmod(b.home, 0o711); err != nil { // as root, PostgreSQL runs as another user
		return b, err
	}
	self, err := os.Executable()
	if err != nil {
		return b, err
	}
	if b.upstream, err = start(ctx, nil, self, "upstream"); err != nil {
		return b, err
	}
	if b.proxy, err = start(ctx, nil, self, "proxy", b.upstream.address); err != nil {
		return b, err
	}
	env := []string{
		"PATCHBAY_DATA_DIR=" + filepath.Join(b.home, "data"), "PATCHBAY_ADDR=127.0.0.1:0", "PATCHBAY_EGRESS=local", "PATCHBAY_LOG_LEVEL=warn", "DATABASE_URL=",
	}
	if o.profile != "" {
		b.private = "127.0.0.1:16060"
		env = append(env, "PATCHBAY_PRIVATE_ADDR="+b.private)
	}
	if b.patchbay, err = start(ctx, env, o.program); err != nil {
		return b, err
	}
	key := exec.CommandContext(ctx, o.program, "apikey", "create", "--tenant", "default", "--role", "owner", "--name", "bench") //nolint:gosec // likewise
	key.Env = append(os.Environ(), env...)
	text, err := key.Output()
	if err != nil {
		return b, fmt.Errorf("make an API key: %w", err)
	}
	b.key = strings.TrimSpace(string(text))
	for _, n := range listSizes {
		if err = b.connect(ctx, n); err != nil {
			return b, err
		}
	}
	return b, nil
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

// api is one request to the JSON API; into: what it answers, nil for nobody.
func (b *bench) api(ctx context.Context, method, path string, body, into any) error {
	var payload io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return err
		}
		payload = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(ctx, method, b.patchbay.address+"/api/v1"+path, payload)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+b.key)
	r.Header.Set("Content-Type", "application/json")
	response, err := b.load.client.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode >= 300 {
		return fmt.Errorf("%s %s: %d %s", method, path, response.StatusCode, text)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(text, into)
}

// end stops everything.
func (b *bench) end() {
	for _, p := range []*process{b.patchbay, b.proxy, b.upstream} {
		if p != nil {
			p.stop()
		}
	}
	_ = os.RemoveAll(b.home)
}

// ours and theirs are the two sides, for the server with n tools.
func (b *bench) ours(n int) side {
	return side{name: "Patchbay", url: b.patchbay.address + "/mcp", token: b.tokens[n], tool: fmt.Sprintf("mcp_s%d__work", n), server: b.patchbay}
}

func (b *bench) theirs(n int) side {
	return side{name: "proxy", url: b.proxy.address + "/" + strconv.Itoa(n), token: "nobody's", tool: "work", server: b.proxy, frail: true}
}
