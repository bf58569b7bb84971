//go:build e2e && interop

package e2e_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

const (
	plainRevision = "2025-11-25"
	plainAnswer   = time.Minute // for the reply to a request
	plainEnd      = 5 * time.Second
)

// modernMeta begins the params of each request of 2026-07-28.
const modernMeta = `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"plain","version":"1"},` +
	`"io.modelcontextprotocol/clientCapabilities":{}},`

// plainSession is an MCP session without an MCP library: it writes JSON-RPC messages and reads what comes.
type plainSession struct {
	t        *testing.T
	modern   bool // 2026-07-28: without initialize, and each request says all by itself
	lastID   int
	write    func(message []byte) error // may return before the reply is there
	incoming chan []byte
	failed   chan error // of write, after it returned
}

func newPlainSession(t *testing.T, modern bool) *plainSession {
	return &plainSession{t: t, modern: modern, incoming: make(chan []byte, 1000), failed: make(chan error, 100)}
}

// initialize begins a session of plainRevision.
func (s *plainSession) initialize() {
	s.t.Helper()
	if s.modern {
		return
	}
	s.mustAsk("initialize", fmt.Sprintf(
		`{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"plain","version":"1"}}`, plainRevision))
	if err := s.write([]byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)); err != nil {
		s.t.Fatalf("notifications/initialized: %v", err)
	}
}

// ask sends a request and returns its reply. Requests of the server are answered meanwhile.
func (s *plainSession) ask(method, params string) reply {
	s.t.Helper()
	s.lastID++
	id := fmt.Sprintf(`"plain-%d"`, s.lastID) // some bridges send replies to all of their clients
	if s.modern {
		params = strings.Replace(params, "{", modernMeta, 1)
		params = strings.Replace(params, ",}", "}", 1)
	}
	if err := s.write(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params)); err != nil {
		s.t.Fatalf("%s: %v", method, err)
	}
	deadline := time.After(plainAnswer)
	for {
		select {
		case raw := <-s.incoming:
			var m struct {
				ID     json.RawMessage
				Method string
				reply
			}
			if json.Unmarshal(raw, &m) != nil {
				continue // programs print other lines, too
			}
			if m.Method != "" {
				s.answer(m.Method, m.ID)
			} else if string(m.ID) == id {
				return m.reply
			}
		case err := <-s.failed:
			s.t.Fatalf("%s: %v", method, err)
		case <-deadline:
			s.t.Fatalf("%s: no reply after %s", method, plainAnswer)
		}
	}
}

func (s *plainSession) answer(method string, id json.RawMessage) {
	if len(id) == 0 {
		return // a notification
	}
	answer := `"error":{"code":-32601,"message":"not here"}`
	if method == "ping" {
		answer = `"result":{}`
	}
	_ = s.write(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,%s}`, id, answer))
}

func (s *plainSession) mustAsk(method, params string) json.RawMessage {
	s.t.Helper()
	r := s.ask(method, params)
	if r.Error != nil {
		s.t.Fatalf("%s: %d %s", method, r.Error.Code, r.Error.Message)
	}
	return r.Result
}

// taskSupport is not compared: the gateway says what it supports itself.
var taskSupport = regexp.MustCompile(`"taskSupport":"[a-z]+",?`)

// listTools returns the definitions of all pages, without white space between tokens.
func (s *plainSession) listTools() map[string]string {
	s.t.Helper()
	tools := map[string]string{}
	for params := "{}"; ; {
		var page struct {
			Tools      []json.RawMessage
			NextCursor string
		}
		if err := json.Unmarshal(s.mustAsk("tools/list", params), &page); err != nil {
			s.t.Fatalf("tools/list: %v", err)
		}
		for _, raw := range page.Tools {
			var tool struct{ Name string }
			if err := json.Unmarshal(raw, &tool); err != nil {
				s.t.Fatalf("tools/list: %v", err)
			}
			tools[tool.Name] = taskSupport.ReplaceAllString(string(compact(s.t, raw)), "")
		}
		if page.NextCursor == "" {
			return tools
		}
		cursor, _ := json.Marshal(page.NextCursor)
		params = fmt.Sprintf(`{"cursor":%s}`, cursor)
	}
}

// callTool returns the members of a call's result, or its error, without white space between tokens. What tells the revision is left
// out: Patchbay may speak another one with the server.
func (s *plainSession) callTool(name, arguments string) string {
	s.t.Helper()
	r := s.ask("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, name, arguments))
	if r.Error != nil {
		return fmt.Sprintf("error %d: %s", r.Error.Code, r.Error.Message)
	}
	var result, meta map[string]json.RawMessage
	if err := json.Unmarshal(compact(s.t, r.Result), &result); err != nil {
		s.t.Fatalf("tools/call: %v", err)
	}
	if raw := result["_meta"]; raw != nil && json.Unmarshal(raw, &meta) != nil {
		s.t.Fatalf("tools/call: _meta is %s", raw)
	}
	delete(result, "resultType")
	delete(result, "_meta")
	delete(meta, "io.modelcontextprotocol/serverInfo")
	var out strings.Builder
	for _, member := range slices.Sorted(maps.Keys(result)) {
		fmt.Fprintf(&out, "%s: %s\n", member, result[member])
	}
	for _, member := range slices.Sorted(maps.Keys(meta)) {
		fmt.Fprintf(&out, "_meta %s: %s\n", member, meta[member])
	}
	return out.String()
}

// openProgram starts a program where Patchbay does and begins a session over its standard input and output.
func openProgram(t *testing.T, modern bool, command string, args, env []string) *plainSession {
	t.Helper()
	s := newPlainSession(t, modern)
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, command, args...)
	cmd.Env, cmd.Dir, cmd.WaitDelay = env, "/", plainEnd
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	stderr := newLines()
	stdout, output := io.Pipe()
	cmd.Stdout, cmd.Stderr = output, stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s.write = func(message []byte) error {
		_, err := stdin.Write(append(message, '\n'))
		return err
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.readLines(ctx, stdout, "")
	}()
	t.Cleanup(func() {
		_ = stdin.Close()
		cancel()
		_ = cmd.Wait() // how it ends is its own affair
		_ = output.Close()
		<-ended
		if t.Failed() {
			t.Logf("standard error of %s:\n%s", strings.Join(cmd.Args, " "), stderr.tail(10))
		}
	})
	s.initialize()
	return s
}

// readLines passes the lines that begin with prefix on, to the end of the stream.
func (s *plainSession) readLines(ctx context.Context, stream io.Reader, prefix string) {
	lines := bufio.NewScanner(stream)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		if line, ok := bytes.CutPrefix(lines.Bytes(), []byte(prefix)); ok {
			select {
			case s.incoming <- bytes.Clone(line):
			case <-ctx.Done():
			}
		}
	}
}

// openStreamable begins a session with Streamable HTTP. token may be empty.
func openStreamable(t *testing.T, modern bool, address, token string) *plainSession {
	t.Helper()
	s := newPlainSession(t, modern)
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	var session atomic.Value
	post := func(message []byte) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(message))
		if err != nil {
			return err
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		if token != "" {
			req.Header.Set("Authorization", "Bearer "+token)
		}
		if id, ok := session.Load().(string); ok {
			req.Header.Set("Mcp-Session-Id", id)
		}
		s.setHeaders(req.Header, message)
		res, err := localClient.Do(req)
		if err != nil {
			return err
		}
		defer res.Body.Close()
		if res.StatusCode >= 300 {
			body, _ := io.ReadAll(io.LimitReader(res.Body, 1000))
			return fmt.Errorf("status %d: %s", res.StatusCode, body)
		}
		if id := res.Header.Get("Mcp-Session-Id"); id != "" {
			session.Store(id)
		}
		if strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
			s.readLines(ctx, res.Body, "data:")
			return nil
		}
		body, err := io.ReadAll(res.Body)
		if err == nil && len(body) > 0 {
			s.incoming <- body
		}
		return err
	}
	s.write = func(message []byte) error {
		if bytes.Contains(message, []byte(`"notifications/`)) {
			return post(message) // the next request comes after it
		}
		go func() {
			if err := post(message); err != nil {
				select {
				case s.failed <- err:
				case <-ctx.Done():
				}
			}
		}()
		return nil
	}
	s.initialize()
	return s
}

// setHeaders sets what a message says in headers, too.
func (s *plainSession) setHeaders(header http.Header, message []byte) {
	var m struct {
		Method string
		Params struct{ Name string }
	}
	_ = json.Unmarshal(message, &m) // the server judges it
	switch {
	case s.modern:
		header.Set("Mcp-Protocol-Version", newest)
		header.Set("Mcp-Method", m.Method)
		if m.Params.Name != "" {
			header.Set("Mcp-Name", m.Params.Name)
		}
	case m.Method != "initialize":
		header.Set("Mcp-Protocol-Version", plainRevision)
	}
}

// openEventStream begins a session with the HTTP+SSE of 2024-11-05.
func openEventStream(t *testing.T, address string) *plainSession {
	t.Helper()
	s := newPlainSession(t, false)
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "text/event-stream")
	res, err := localClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.readLines(ctx, res.Body, "data:")
	}()
	t.Cleanup(func() {
		cancel()
		_ = res.Body.Close()
		<-ended
	})
	var endpoint *url.URL
	select {
	case data := <-s.incoming: // the first event says where messages are posted
		if endpoint, err = res.Request.URL.Parse(strings.TrimSpace(string(data))); err != nil {
			t.Fatal(err)
		}
	case <-time.After(plainAnswer):
		t.Fatalf("%s: no endpoint after %s", address, plainAnswer)
	}
	s.write = func(message []byte) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint.String(), bytes.NewReader(message))
		if err != nil {
			return err
		}
		req.Header.Set("Content-Type", "application/json")
		res, err := localClient.Do(req)
		if err != nil {
			return err
		}
		defer res.Body.Close()
		if _, err := io.Copy(io.Discard, res.Body); err != nil || res.StatusCode >= 300 {
			return fmt.Errorf("status %d: %w", res.StatusCode, err)
		}
		return nil
	}
	s.initialize()
	return s
}
