//go:build e2e

package e2e_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"patchbay/internal/testing/pgtest"
)

// agent is an agent's client, by HTTP alone.
type agent struct {
	t     *testing.T
	base  string
	token string
}

// hire creates an agent by the API that needs no approval and may use these connectors.
func (c client) hire(slug string, connectors ...string) agent {
	c.t.Helper()
	c.must(http.StatusCreated, http.MethodPost, "/api/v1/agents", object{"name": slug, "slug": slug, "approval": "auto"})
	for _, connector := range connectors {
		c.must(http.StatusNoContent, http.MethodPut, "/api/v1/agents/"+slug+"/connectors/"+connector, object{"tools": "all"})
	}
	made := c.must(http.StatusCreated, http.MethodPost, "/api/v1/agents/"+slug+"/tokens", object{"name": "tests"})
	token, _ := made["token"].(string)
	return agent{t: c.t, base: c.base, token: token}
}

// reply is what a message was answered.
type reply struct {
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
		Data    json.RawMessage
	}
}

// send posts a message, and returns the status, the headers and the reply, be it JSON or an event stream.
func (a agent) send(path, message string, header ...string) (int, http.Header, reply) {
	a.t.Helper()
	status, h, r, err := a.try(a.t.Context(), path, message, header...)
	if err != nil {
		a.t.Fatal(err)
	}
	return status, h, r
}

func (a agent) try(ctx context.Context, path, message string, header ...string) (int, http.Header, reply, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.base+path, strings.NewReader(message))
	if err != nil {
		return 0, nil, reply{}, err
	}
	req.Header.Set("Authorization", "Bearer "+a.token)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := localClient.Do(req)
	if err != nil {
		return 0, nil, reply{}, err
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		return res.StatusCode, res.Header, reply{}, err
	}
	var r reply
	if strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		raw = lastData(raw)
	}
	if len(raw) > 0 && json.Unmarshal(raw, &r) != nil {
		return res.StatusCode, res.Header, r, fmt.Errorf("status %d: %s", res.StatusCode, raw)
	}
	return res.StatusCode, res.Header, r, nil
}

// lastData is the data of a stream's last event.
func lastData(stream []byte) []byte {
	var last []byte
	lines := bufio.NewScanner(bytes.NewReader(stream))
	lines.Buffer(nil, 8<<20)
	for lines.Scan() {
		if data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data: ")); ok {
			last = bytes.Clone(data)
		}
	}
	return last
}

const newest = "2026-07-28"

// modern is a request of the newest era: it says all by itself.
func modern(method, params string) (message string, header []string) {
	var p struct{ Name string }
	_ = json.Unmarshal([]byte("{"+params+"}"), &p)
	if params != "" {
		params += ","
	}
	meta := fmt.Sprintf(`"_meta":{"io.modelcontextprotocol/protocolVersion":%q,"io.modelcontextprotocol/clientInfo":{"name":"e2e","version":"1"},`+
		`"io.modelcontextprotocol/clientCapabilities":{}}`, newest)
	header = []string{"Mcp-Protocol-Version", newest, "Mcp-Method", method}
	if p.Name != "" {
		header = append(header, "Mcp-Name", p.Name)
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s%s}}`, method, params, meta), header
}

// inEachEra runs f with a way to send requests in that era.
func (a agent) inEachEra(path string, f func(era string, send func(method, params string) reply)) {
	a.t.Helper()
	f(newest, func(method, params string) reply {
		a.t.Helper()
		message, header := modern(method, params)
		_, _, r := a.send(path, message, header...)
		return r
	})
	for _, version := range []string{"2025-11-25", "2025-06-18", "2025-03-26"} {
		_, h, r := a.send(path, fmt.Sprintf(
			`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"e2e","version":"1"}}}`, version))
		session := h.Get("Mcp-Session-Id")
		if session == "" || !strings.Contains(string(r.Result), version) {
			a.t.Fatalf("initialize of %s: %s, session %q", version, r.Result, session)
		}
		header := []string{"Mcp-Session-Id", session, "Mcp-Protocol-Version", version}
		if status, _, _ := a.send(path, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, header...); status != http.StatusAccepted {
			a.t.Errorf("initialized was answered %d", status)
		}
		f(version, func(method, params string) reply {
			a.t.Helper()
			_, _, r := a.send(path, fmt.Sprintf(`{"jsonrpc":"2.0","id":"x","method":%q,"params":{%s}}`, method, params), header...)
			return r
		})
	}
}

func toolsIn(t *testing.T, r reply) []string {
	t.Helper()
	var list struct{ Tools []struct{ Name string } }
	if r.Error != nil || json.Unmarshal(r.Result, &list) != nil {
		t.Fatalf("no list: %+v %s", r.Error, r.Result)
	}
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	return names
}

func TestAnAgentUsesToolsThroughTheGatewayInEveryEra(t *testing.T) {
	t.Parallel()
	inEachHTTPMode(t, testAnAgentUsesToolsThroughTheGatewayInEveryEra)
}

func testAnAgentUsesToolsThroughTheGatewayInEveryEra(t *testing.T, setting string) {
	h := newHome(t, setting)
	upstream := h.devMCP()
	base := h.serve().base
	c := client{t: t, base: base, key: h.run("apikey", "create", "--tenant", "default", "--role", "admin", "--name", "tests")}
	c.must(http.StatusCreated, http.MethodPost, "/api/v1/connectors", object{"name": "Dev", "url": upstream + "/mcp"})
	c.must(http.StatusOK, http.MethodPost, "/connectors/dev/sync_tools", nil)
	names := c.tools("dev")
	a := c.hire("helper", "dev")

	a.inEachEra("/mcp", func(era string, send func(method, params string) reply) {
		for i, exposed := range toolsIn(t, send("tools/list", "")) {
			if exposed != "mcp_dev__"+names[i] {
				t.Errorf("%s: the tool %s is called %s", era, names[i], exposed)
			}
		}
		r := send("tools/call", `"name":"mcp_dev__list_labels","arguments":{}`)
		if r.Error != nil || !strings.Contains(string(r.Result), "good first issue") {
			t.Errorf("%s: %+v %s", era, r.Error, r.Result)
		}
	})
	a.inEachEra("/mcp/dev", func(era string, send func(method, params string) reply) {
		if listed := toolsIn(t, send("tools/list", "")); !slices.Equal(listed, names) {
			t.Errorf("%s: %v, want %v", era, listed, names)
		}
	})

	status, header, _, _ := agent{t: t, base: base, token: c.key}.try(t.Context(), "/mcp", `{}`)
	if status != http.StatusUnauthorized || !strings.Contains(header.Get("Www-Authenticate"), base+"/.well-known/oauth-protected-resource/mcp") {
		t.Errorf("an API key at the gateway: %d %s", status, header.Get("Www-Authenticate"))
	}
	if status, _ := (client{t: t, base: base, key: a.token}).call(http.MethodGet, "/api/v1/connectors", nil); status != http.StatusUnauthorized {
		t.Errorf("an agent's token at the API: %d", status)
	}
	c.wantCalls("helper", map[string]int{"success": 4})
}

// slow is a server with a tool that reports a call and responds when released.
type slow struct {
	url     string
	came    chan string
	release chan struct{}
	calls   atomic.Int64
}

func newSlow(t *testing.T) *slow {
	t.Helper()
	s := &slow{came: make(chan string, 1000), release: make(chan struct{})}
	server := sdk.NewServer(&sdk.Implementation{Name: "slow", Version: "1"}, nil)
	schema := json.RawMessage(`{"type":"object"}`)
	server.AddTool(&sdk.Tool{Name: "wait", InputSchema: schema}, func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		s.calls.Add(1)
		s.came <- string(r.Params.Arguments)
		select {
		case <-s.release:
		case <-ctx.Done():
		}
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "done"}}}, nil
	})
	server.AddTool(&sdk.Tool{Name: "quick", InputSchema: schema}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		s.calls.Add(1)
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "done"}}}, nil
	})
	s.url = serve(t, sdk.NewStreamableHTTPHandler(
		func(*http.Request) *sdk.Server { return server }, &sdk.StreamableHTTPOptions{Stateless: true}))
	return s
}

// TestHistory_HasEveryAnsweredCallAfterStop ends the server under load: every call that was answered is on record as it was
// answered, and what was under way at a SIGTERM is answered.
func TestHistory_HasEveryAnsweredCallAfterStop(t *testing.T) {
	t.Parallel()
	database := "DATABASE_URL=" + pgtest.Empty(t)
	h := newHome(t, database)
	h.env = append(h.env, "PATCHBAY_KEYSET="+h.run("keys", "new"))
	up := newSlow(t)
	server := h.serve()
	key := h.run("apikey", "create", "--tenant", "default", "--role", "admin", "--name", "tests")
	c := client{t: t, base: server.base, key: key}
	c.must(http.StatusCreated, http.MethodPost, "/api/v1/connectors", object{"name": "Slow", "url": up.url})
	c.must(http.StatusOK, http.MethodPost, "/connectors/slow/sync_tools", nil)
	a := c.hire("helper", "slow")

	const quick = 50
	message, header := modern("tools/call", `"name":"mcp_slow__quick","arguments":{}`)
	for range quick {
		if _, _, r := a.send("/mcp", message, header...); r.Error != nil {
			t.Fatalf("%+v", r.Error)
		}
	}
	answered := make(chan error, 1)
	message, header = modern("tools/call", `"name":"mcp_slow__wait","arguments":{}`)
	go func() {
		_, _, r, err := a.try(context.WithoutCancel(t.Context()), "/mcp", message, header...)
		if err == nil && !strings.Contains(string(r.Result), "done") {
			err = fmt.Errorf("it was answered %+v %s", r.Error, r.Result)
		}
		answered <- err
	}()
	<-up.came
	ended := make(chan int, 1)
	go func() { ended <- server.terminate() }()
	server.stderr.wait("server stopping", server.exited)
	close(up.release)
	if err := <-answered; err != nil {
		t.Errorf("the call that was under way: %v", err)
	}
	if code := <-ended; code != 0 {
		t.Errorf("the server ended with %d", code)
	}

	server = h.serve()
	c.base, a.base = server.base, server.base
	c.wantCalls("helper", map[string]int{"success": quick + 1})

	// At a kill at most the ends of the last 100 ms are not on record, and what was under way is closed as an error.
	up.release = make(chan struct{})
	go func() { _, _, _, _ = a.try(context.WithoutCancel(t.Context()), "/mcp", message, header...) }()
	<-up.came
	c.wantCalls("helper", map[string]int{"success": quick + 1, "running": 1})
	server.kill()
	close(up.release)
	c.base = h.serve().base
	c.wantCalls("helper", map[string]int{"success": quick + 1, "error": 1})
}

// A client that goes ends its call at the server, over JSON and over an event stream alike.
func TestDepartedClientCancelsItsCall(t *testing.T) {
	t.Parallel()
	inEachHTTPMode(t, testDepartedClientCancelsItsCall)
}

func testDepartedClientCancelsItsCall(t *testing.T, setting string) {
	h := newHome(t, setting)
	up := newSlow(t)
	server := h.serve()
	c := client{t: t, base: server.base, key: h.run("apikey", "create", "--tenant", "default", "--role", "admin", "--name", "tests")}
	c.must(http.StatusCreated, http.MethodPost, "/api/v1/connectors", object{"name": "Slow", "url": up.url})
	c.must(http.StatusOK, http.MethodPost, "/connectors/slow/sync_tools", nil)
	a := c.hire("helper", "slow")

	message, header := modern("tools/call", `"name":"mcp_slow__wait","arguments":{}`)
	for n := 1; n <= 3; n++ {
		ctx, leave := context.WithCancel(t.Context())
		left := make(chan error, 1)
		go func() {
			_, _, _, err := a.try(ctx, "/mcp", message, header...)
			left <- err
		}()
		<-up.came
		leave()
		if err := <-left; err == nil {
			t.Error("the call was answered")
		}
		c.wantCalls("helper", map[string]int{"cancelled": n})
	}
	close(up.release)
	mode := strings.TrimPrefix(setting, "PATCHBAY_HTTP=")
	if line, ok := server.stderr.wait("server started", server.exited); !ok || !strings.Contains(line, fmt.Sprintf(`"http":%q`, mode)) {
		t.Errorf("the log does not name the mode %s: %s", mode, line)
	}
}

// wantCalls waits until the history of an agent has so many calls of each status.
func (c client) wantCalls(agent string, want map[string]int) {
	c.t.Helper()
	eventually(c.t, func() error {
		status, answer, err := c.try(http.MethodGet, "/api/v1/agents/"+agent+"/tool_calls?limit=200", nil)
		if err != nil || status != http.StatusOK {
			return fmt.Errorf("%d %v: %w", status, answer, err)
		}
		have := map[string]int{}
		items, _ := answer["items"].([]any)
		for _, item := range items {
			call, _ := item.(object)
			state, _ := call["status"].(string)
			have[state]++
		}
		if fmt.Sprint(have) != fmt.Sprint(want) {
			return fmt.Errorf("the history has %v, want %v", have, want)
		}
		return nil
	})
}
