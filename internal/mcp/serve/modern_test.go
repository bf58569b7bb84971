package serve_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"patchbay/internal/mcp/serve"
)

func TestModern_InvalidRequestIsRefused(t *testing.T) {
	t.Parallel()
	p := newTestServer(t, &testBackend{})
	plain := func(edit func(a *testRequest)) testRequest {
		a := modernRequest("tools/call", `,"name":"add"`, "")
		edit(&a)
		return a
	}
	header := func(name, value string) testRequest { return plain(func(a *testRequest) { a.header[name] = value }) }
	body := func(old, new string) testRequest {
		return plain(func(a *testRequest) { a.body = strings.Replace(a.body, old, new, 1) })
	}
	for name, tc := range map[string]struct {
		ask          testRequest
		status, code int
	}{
		"no version header":               {header("MCP-Protocol-Version", ""), 400, -32020},
		"another version in the header":   {header("MCP-Protocol-Version", "2025-11-25"), 400, -32020},
		"no method header":                {header("Mcp-Method", ""), 400, -32020},
		"another method in the header":    {header("Mcp-Method", "TOOLS/CALL"), 400, -32020},
		"no name header":                  {header("Mcp-Name", ""), 400, -32020},
		"another name in the header":      {header("Mcp-Name", "sub"), 400, -32020},
		"a name header that is no base64": {header("Mcp-Name", "=?base64?YWRk!?="), 400, -32020},
		"a name header without padding":   {header("Mcp-Name", "=?base64?YWQ?="), 400, -32020},
		"no meta":                         {body(modernMeta+"},", ""), 400, -32602},
		"no version in the meta":          {body(`"io.modelcontextprotocol/protocolVersion":"2026-07-28",`, ""), 400, -32602},
		"a version that is no text":       {body(`Version":"2026-07-28"`, `Version":1`), 400, -32602},
		"no capabilities":                 {body(`"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}},`, ""), 400, -32602},
		"capabilities that are no object": {body(`{"elicitation":{}}`, `[]`), 400, -32602},
		"an unknown log level":            {modernRequest("tools/list", "", `,"io.modelcontextprotocol/logLevel":"loud"`), 400, -32602},
		"a name that is no text":          {body(`"add"`, `7`), 200, -32602},
		"a cursor that is no text":        {modernRequest("tools/list", `,"cursor":7`, ""), 200, -32602},
		"initialize":                      {modernRequest("initialize", "", ""), 404, -32601},
		"ping":                            {modernRequest("ping", "", ""), 404, -32601},
		"logging/setLevel":                {modernRequest("logging/setLevel", "", ""), 404, -32601},
		"resources/subscribe":             {modernRequest("resources/subscribe", `,"uri":"u:x"`, ""), 404, -32601},
		"resources/unsubscribe":           {modernRequest("resources/unsubscribe", `,"uri":"u:x"`, ""), 404, -32601},
		"a response": {testRequest{header: map[string]string{"MCP-Protocol-Version": "2026-07-28"},
			body: `{"jsonrpc":"2.0","id":1,"result":{}}`}, 400, -32600},
		"a batch": {testRequest{header: map[string]string{"MCP-Protocol-Version": "2026-07-28"}, body: `[]`}, 400, -32600},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := p.send(tc.ask)
			text := r.text()
			if r.StatusCode != tc.status || errorCode(text) != tc.code {
				t.Errorf("answered %d %s", r.StatusCode, text)
			}
			if strings.Contains(tc.ask.body, `"method"`) && !strings.Contains(text, `"id":1,`) {
				t.Errorf("the answer does not name its request: %s", text)
			}
		})
	}
}

func TestModern_UnsupportedVersionListsSupported(t *testing.T) {
	t.Parallel()
	p := newTestServer(t, &testBackend{})
	a := modernRequest("tools/list", "", "")
	a.body = strings.ReplaceAll(a.body, "2026-07-28", "2099-01-01")
	a.header["MCP-Protocol-Version"] = "2099-01-01"
	bare := testRequest{header: map[string]string{"MCP-Protocol-Version": "2099-01-01"}, body: `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`}
	for _, a := range []testRequest{a, bare} {
		r := p.send(a)
		text := r.text()
		const want = `"data":{"requested":"2099-01-01","supported":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"]}`
		if r.StatusCode != 400 || errorCode(text) != -32022 || !strings.Contains(text, want) {
			t.Errorf("answered %d %s", r.StatusCode, text)
		}
	}
}

func TestModern_RequestReachesBackendWhole(t *testing.T) {
	t.Parallel()
	seen := make(chan serve.Request, 1)
	p := newTestServer(t, &testBackend{answer: func(_ context.Context, r *serve.Request) (json.RawMessage, error) {
		seen <- *r
		if !r.Peer.Modern || r.Peer.Version != "2026-07-28" || !r.Peer.Can("elicitation.form") || r.Peer.Can("elicitation.url") || r.Peer.Can("sampling") {
			t.Errorf("peer is %+v", r.Peer)
		}
		return json.RawMessage(`{"content":[], "n":9007199254740993}`), nil
	}})
	a := modernRequest("tools/call", `,"name":"größe","arguments":{"n":9007199254740993, "x":"<\u0026"}`, `,"progressToken":7`)
	a.header["Mcp-Name"] = "=?base64?Z3LDtsOfZQ==?="
	r := p.send(a)
	if text := r.text(); text != `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[], "n":9007199254740993}}` {
		t.Error(text)
	}
	if r.Header.Get("Content-Type") != "application/json" || r.ContentLength < 0 {
		t.Errorf("header is %v", r.Header)
	}
	have := <-seen
	if have.Name != "größe" || string(have.Arguments) != `{"n":9007199254740993, "x":"<\u0026"}` || string(have.ProgressToken()) != "7" ||
		!strings.HasSuffix(string(have.Params), string(have.Arguments)+"}") || !strings.HasPrefix(string(have.Params), `{"_meta":{`) {
		t.Errorf("request is %+v", have)
	}
}

func TestBackendError_HasHTTPStatus(t *testing.T) {
	t.Parallel()
	errs := map[string]error{
		"unknown":  serve.MethodNotFound("x/y"),
		"params":   serve.InvalidParams("The tool is not known."),
		"mismatch": serve.HeaderMismatch("No."),
		"secret":   context.DeadlineExceeded,
	}
	p := newTestServer(t, &testBackend{answer: func(_ context.Context, r *serve.Request) (json.RawMessage, error) { return nil, errs[r.Name] }})
	session := p.startSession("2025-11-25", "{}")
	for name, want := range map[string]struct{ code, modern, legacy int }{
		"unknown": {-32601, 404, 200}, "params": {-32602, 200, 200}, "mismatch": {-32020, 400, 400},
		"secret": {-32603, 200, 200},
	} {
		r := p.send(modernRequest("tools/call", `,"name":"`+name+`"`, ""))
		text := r.text()
		if r.StatusCode != want.modern || errorCode(text) != want.code || strings.Contains(text, "deadline") {
			t.Errorf("%s, modern: %d %s", name, r.StatusCode, text)
		}
		r = p.send(inSession(session, `{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"`+name+`"}}`))
		text = r.text()
		if r.StatusCode != want.legacy || errorCode(text) != want.code || !strings.Contains(text, `"id":"a"`) {
			t.Errorf("%s, legacy: %d %s", name, r.StatusCode, text)
		}
	}
}

func TestDiscover_DescribesServer(t *testing.T) {
	t.Parallel()
	p := newTestServer(t, &testBackend{})
	want := `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","supportedVersions":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"],` +
		`"capabilities":` + allCapabilities + `,"instructions":"Ask.","ttlMs":0,"cacheScope":"private",` +
		`"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"desk","version":"1","title":"The desk"}}}}`
	if have := p.send(modernRequest("server/discover", "", "")).text(); have != want {
		t.Error(have)
	}
	a := modernRequest("server/discover", "", "")
	a.body = strings.Replace(a.body, `,"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"}`, "", 1)
	if have := p.send(a).text(); have != want {
		t.Errorf("without clientInfo: %s", have)
	}
}

func TestModern_NotificationIsAccepted(t *testing.T) {
	t.Parallel()
	d := &testBackend{}
	p := newTestServer(t, d)
	for _, method := range []string{"notifications/cancelled", "notifications/x"} {
		r := p.send(testRequest{
			header: map[string]string{"MCP-Protocol-Version": "2026-07-28"},
			body:   `{"jsonrpc":"2.0","method":"` + method + `","params":{"a":1}}`,
		})
		if text := r.text(); r.StatusCode != 202 || text != "" {
			t.Errorf("%s: %d %s", method, r.StatusCode, text)
		}
	}
	if have := d.receivedNotifications(); have != `notifications/x {"a":1}` {
		t.Error(have)
	}
}

func TestModern_ClosedConnectionCancelsRequest(t *testing.T) {
	t.Parallel()
	began, ended := make(chan struct{}), make(chan error)
	p := newTestServer(t, &testBackend{answer: func(ctx context.Context, _ *serve.Request) (json.RawMessage, error) {
		close(began)
		<-ctx.Done()
		ended <- context.Cause(ctx)
		return nil, ctx.Err()
	}})
	a := modernRequest("tools/call", `,"name":"wait"`, "")
	ctx, leave := context.WithCancel(t.Context())
	go func() {
		<-began
		leave()
	}()
	p.sendAndCancel(ctx, a)
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("ended by %v", err)
	}
}

func TestLogLevel_FiltersMessagesOfModernRequest(t *testing.T) {
	t.Parallel()
	p := newTestServer(t, &testBackend{answer: func(_ context.Context, r *serve.Request) (json.RawMessage, error) {
		for _, level := range []string{"debug", "warning", "error"} {
			if err := r.Notify("notifications/message", json.RawMessage(`{"level":"`+level+`"}`)); err != nil {
				t.Error(err)
			}
		}
		return json.RawMessage("{}"), nil
	}})
	if r := p.send(modernRequest("tools/call", `,"name":"log"`, "")); r.Header.Get("Content-Type") != "application/json" {
		t.Error("a request without a level heard of something")
	}
	r := p.send(modernRequest("tools/call", `,"name":"log"`, `,"io.modelcontextprotocol/logLevel":"warning"`))
	for _, want := range []string{
		`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"warning"}}`,
		`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error"}}`,
		`{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete"}}`,
	} {
		if have := r.message(); have != want {
			t.Error(have)
		}
	}
	r.expectEnd()
}

// sendAndCancel sends a request whose context may end before its reply.
func (p *testServer) sendAndCancel(ctx context.Context, a testRequest) {
	p.t.Helper()
	response, err := p.do(ctx, a)
	if err == nil {
		_ = response.Body.Close()
	}
}
