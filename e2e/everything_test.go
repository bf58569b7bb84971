//go:build e2e

package e2e_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// startEverything runs npm's server-everything in streamableHttp mode and returns its endpoint.
func startEverything(t *testing.T) string {
	t.Helper()
	port := freePort(t)
	p := startPeer(t, []string{fmt.Sprintf("PORT=%d", port)}, "node_modules/@modelcontextprotocol/server-everything/dist/index.js", "streamableHttp")
	if _, ok := p.stderr.wait("listening on port", p.exited); !ok {
		t.Fatalf("server-everything did not start: %s", p.stderr.text())
	}
	return fmt.Sprintf("http://127.0.0.1:%d/mcp", port)
}

// freePort is a port for a program that cannot choose one. It is below the kernel's ephemeral range, so that no
// other process gets it first.
func freePort(t *testing.T) int {
	t.Helper()
	for range 100 {
		port := 20_000 + rand.IntN(10_000)
		if l, err := net.Listen("tcp", fmt.Sprintf(":%d", port)); err == nil {
			_ = l.Close()
			return port
		}
	}
	t.Fatal("no port is free")
	return 0
}

// TestTheToolsOfARealServerArriveByteForByte syncs server-everything over the API and compares with what the server itself
// answers to a plain HTTP conversation.
func TestTheToolsOfARealServerArriveByteForByte(t *testing.T) {
	t.Parallel()
	upstream := startEverything(t)
	h := newHome(t)
	c := client{t: t, base: h.serve().base, key: h.run("apikey", "create", "--tenant", "default", "--role", "admin", "--name", "test")}

	c.must(http.StatusCreated, http.MethodPost, "/api/v1/connectors", object{"name": "Everything", "url": upstream})
	run := c.must(http.StatusOK, http.MethodPost, "/connectors/everything/sync_tools", nil)
	want := listDirectly(t, upstream)
	if run["status"] != "ok" || run["tools_total"] != float64(len(want)) {
		t.Fatalf("the run is %v, the server has %d tools", run, len(want))
	}

	var got struct {
		Items []struct {
			Name        string          `json:"name"`
			InputSchema json.RawMessage `json:"input_schema"`
			Review      string          `json:"review"`
			FirstSeenAt time.Time       `json:"first_seen_at"`
		} `json:"items"`
	}
	if err := json.Unmarshal(c.raw("/api/v1/connectors/everything/tools?limit=200"), &got); err != nil {
		t.Fatal(err)
	}
	names := make([]string, 0, len(got.Items))
	for _, tool := range got.Items {
		names = append(names, tool.Name)
		if !bytes.Equal(compact(t, tool.InputSchema), compact(t, want[tool.Name])) {
			t.Errorf("the schema of %s is\n%s\nthe server says\n%s", tool.Name, tool.InputSchema, want[tool.Name])
		}
		if tool.Review != "accepted" || tool.FirstSeenAt.IsZero() {
			t.Errorf("%s is %s, first seen %s", tool.Name, tool.Review, tool.FirstSeenAt)
		}
	}
	for name := range want {
		if !slices.Contains(names, name) {
			t.Errorf("%s is missing", name)
		}
	}
}

// listDirectly asks a server for its tools with nothing of ours in between: name → input schema.
func listDirectly(t *testing.T, url string) map[string]json.RawMessage {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var session string
	ask := func(body string) []byte {
		req, err := http.NewRequestWithContext(ctx, "POST", url, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		if session != "" {
			req.Header.Set("Mcp-Session-Id", session)
			req.Header.Set("MCP-Protocol-Version", "2025-11-25")
		}
		res, err := localClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if s := res.Header.Get("Mcp-Session-Id"); s != "" {
			session = s
		}
		lines := bufio.NewScanner(res.Body)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			if data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data: ")); ok && len(data) > 0 && data[0] == '{' {
				return bytes.Clone(data)
			}
		}
		return nil
	}
	ask(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`)
	ask(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	var reply struct {
		Result struct {
			Tools []struct {
				Name        string          `json:"name"`
				InputSchema json.RawMessage `json:"inputSchema"`
			} `json:"tools"`
		} `json:"result"`
	}
	if err := json.Unmarshal(ask(`{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}`), &reply); err != nil {
		t.Fatalf("the server's list: %v", err)
	}
	schemas := make(map[string]json.RawMessage)
	for _, tool := range reply.Result.Tools {
		schemas[tool.Name] = tool.InputSchema
	}
	if len(schemas) == 0 {
		t.Fatal("the server listed no tools")
	}
	return schemas
}

func compact(t *testing.T, raw json.RawMessage) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return b.Bytes()
}

// raw is a 200's body as it came.
func (c client) raw(path string) []byte {
	c.t.Helper()
	req, err := http.NewRequestWithContext(c.t.Context(), http.MethodGet, c.base+path, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+c.key)
	res, err := localClient.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		c.t.Fatalf("GET %s: %d, %v", path, res.StatusCode, err)
	}
	return body
}
