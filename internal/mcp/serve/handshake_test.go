package serve_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"patchbay/internal/mcp/serve"
)

func TestInitialize_NegotiatesVersion(t *testing.T) {
	t.Parallel()
	p := newTestServer(t, &testBackend{})
	for wanted, want := range map[string]string{
		"2025-11-25": "2025-11-25", "2025-06-18": "2025-06-18", "2025-03-26": "2025-03-26", "2024-11-05": "2024-11-05",
		"2026-07-28": "2025-11-25", "1999-01-01": "2025-11-25",
	} {
		r := p.send(testRequest{body: `{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"` + wanted + `","capabilities":{},"clientInfo":{}}}`})
		title := `,"title":"The desk"`
		if want < "2025-06-18" {
			title = ""
		}
		text := `{"jsonrpc":"2.0","id":"i","result":{"protocolVersion":"` + want + `","capabilities":` + allCapabilities +
			`,"serverInfo":{"name":"desk","version":"1"` + title + `},"instructions":"Ask."}}`
		if have := r.text(); have != text {
			t.Errorf("%s: %s", wanted, have)
		}
		if id := r.Header.Get("Mcp-Session-Id"); id == "" || strings.ContainsFunc(id, func(c rune) bool { return c <= ' ' || c > '~' }) {
			t.Errorf("%s: session %q", wanted, id)
		}
	}
	r := p.send(testRequest{body: `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`})
	if text := r.text(); r.StatusCode != 200 || errorCode(text) != -32602 {
		t.Errorf("without a version: %d %s", r.StatusCode, text)
	}
}

// TestSession_KeepsExtensionsWithinBounds opens sessions with capabilities that are too large for a session id.
func TestSession_KeepsExtensionsWithinBounds(t *testing.T) {
	t.Parallel()
	const ui = `"io.modelcontextprotocol/ui":{"mimeTypes":["a"]}`
	long := strings.Repeat("a", 600)
	for name, tc := range map[string]struct{ capabilities, want string }{
		"small":                 {`{"extensions":{` + ui + `}}`, `{"extensions":{` + ui + `}}`},
		"large capabilities":    {`{"sampling":{},"experimental":{"a":"` + long + long + `"},"extensions":{` + ui + `}}`, `{"sampling":{},"extensions":{` + ui + `}}`},
		"large extensions":      {`{"experimental":{"a":"` + long + `"},"extensions":{"x/y":{"a":"` + long + `"},` + ui + `}}`, `{"extensions":{` + ui + `}}`},
		"large and without one": {`{"experimental":{"a":"` + long + `"},"extensions":{"x/y":{"a":"` + long + `"}}}`, `{}`},
	} {
		peers := make(chan string, 1)
		s := newTestServer(t, &testBackend{answer: func(_ context.Context, r *serve.Request) (json.RawMessage, error) {
			peers <- string(r.Peer.Capabilities)
			return json.RawMessage(`{}`), nil
		}}, usePlainSessions)
		session := s.startSession("2025-11-25", tc.capabilities)
		if r := s.send(inSession(session, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)); r.StatusCode != 200 {
			t.Fatalf("%s: %d", name, r.StatusCode)
		}
		if got := <-peers; got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
}

func TestSession_CarriesInitializeParams(t *testing.T) {
	t.Parallel()
	peers := make(chan serve.Client, 1)
	d := &testBackend{answer: func(_ context.Context, r *serve.Request) (json.RawMessage, error) {
		peers <- *r.Peer
		return json.RawMessage(`{"a" : 1}`), nil
	}}
	a, b := newTestServer(t, d, usePlainSessions), newTestServer(t, d, usePlainSessions) // two processes with one key
	session := a.startSession("2025-06-18", `{"sampling":{"tools":{}},"elicitation":{"url":{}},"tasks":{"list":{}}}`)
	var names []string
	for _, p := range []*testServer{a, b, b} {
		r := p.send(inSession(session, `{"jsonrpc":"2.0","id":1,"method":"tools\/list"}`))
		if text := r.text(); text != `{"jsonrpc":"2.0","id":1,"result":{"a" : 1}}` {
			t.Fatalf("%d %s", r.StatusCode, text)
		}
		client := <-peers
		names = append(names, client.Session)
		if client.Modern || client.Version != "2025-06-18" || !client.Can("sampling.tools") || client.Can("elicitation.form") || !client.Can("tasks") ||
			string(client.ClientInfo) != `{"name":"t","version":"1"}` {
			t.Errorf("peer is %+v", client)
		}
	}
	if names[0] == "" || names[0] != names[1] || names[1] != names[2] {
		t.Errorf("sessions are %q", names)
	}
}

func TestSession_ForeignIsNotFound(t *testing.T) {
	t.Parallel()
	p := newTestServer(t, &testBackend{})
	session := p.startSession("2025-11-25", "{}")
	other := newTestServer(t, &testBackend{}).startSession("2025-11-25", "{}")
	changed := []byte(session)
	changed[len(changed)/2] ^= 1
	for name, a := range map[string]testRequest{
		"another caller's":  {path: "/you", header: map[string]string{"Mcp-Session-Id": session}},
		"another process's": {header: map[string]string{"Mcp-Session-Id": other}},
		"an invented one":   {header: map[string]string{"Mcp-Session-Id": "x"}},
		"a changed one":     {header: map[string]string{"Mcp-Session-Id": string(changed)}},
	} {
		for _, method := range []string{"POST", "GET", "DELETE"} {
			a.method = method
			if a.body = ""; method == "POST" {
				a.body = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
			}
			if r := p.send(a); r.StatusCode != 404 {
				t.Errorf("%s, %s: %d", name, method, r.StatusCode)
			}
		}
	}
}

func TestSession_EndedIsNotFound(t *testing.T) {
	t.Parallel()
	a, b := newTwoServers(t, &testBackend{})
	session, other := a.startSession("2025-11-25", "{}"), a.startSession("2025-11-25", "{}")
	ping := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	if r := b.send(inSession(session, ping)); r.StatusCode != 200 {
		t.Errorf("before: %d", r.StatusCode)
	}
	if r := a.send(testRequest{method: "DELETE", header: map[string]string{"Mcp-Session-Id": session}}); r.StatusCode != 204 {
		t.Errorf("DELETE: %d", r.StatusCode)
	}
	for _, p := range []*testServer{a, b} {
		if r := p.send(inSession(session, ping)); r.StatusCode != 404 {
			t.Errorf("after: %d", r.StatusCode)
		}
		if r := p.send(inSession(other, ping)); r.StatusCode != 200 {
			t.Errorf("another one: %d", r.StatusCode)
		}
	}
}

func TestHandshake_ServesRequestWithoutSession(t *testing.T) {
	t.Parallel()
	versions := make(chan string, 1)
	p := newTestServer(t, &testBackend{answer: func(ctx context.Context, r *serve.Request) (json.RawMessage, error) {
		if _, err := r.SendRequest(ctx, "roots/list", nil); err != serve.ErrRequestsUnsupported {
			t.Errorf("asked: %v", err)
		}
		versions <- r.Peer.Version + r.Peer.Session
		return json.RawMessage("{}"), nil
	}})
	for header, want := range map[string]string{"": "2025-03-26", "2025-06-18": "2025-06-18"} {
		r := p.send(testRequest{header: map[string]string{"MCP-Protocol-Version": header}, body: `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`})
		if r.StatusCode != 200 {
			t.Fatalf("%d %s", r.StatusCode, r.text())
		}
		if have := <-versions; have != want {
			t.Errorf("with header %q: %q", header, have)
		}
	}
}

func TestHandshake_GetAndDeleteNeedSession(t *testing.T) {
	t.Parallel()
	p := newTestServer(t, &testBackend{})
	for _, method := range []string{"GET", "DELETE", "PUT", "OPTIONS", "HEAD"} {
		r := p.send(testRequest{method: method})
		if r.StatusCode != 405 || r.Header.Get("Allow") != "POST" {
			t.Errorf("%s: %d, Allow %q", method, r.StatusCode, r.Header.Get("Allow"))
		}
	}
}

func TestHandshake_ServerAnswersOwnMethods(t *testing.T) {
	t.Parallel()
	d := &testBackend{}
	p := newTestServer(t, d)
	session := p.startSession("2025-11-25", "{}")
	for body, want := range map[string]struct {
		status int
		text   string
		code   int
	}{
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`:                                               {status: 200, text: `{"jsonrpc":"2.0","id":1,"result":{}}`},
		`{"jsonrpc":"2.0","id":1,"method":"ping","params":null}`:                                 {status: 200, text: `{"jsonrpc":"2.0","id":1,"result":{}}`},
		`{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"info"}}`:         {status: 200, text: `{"jsonrpc":"2.0","id":1,"result":{}}`},
		`{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"x"}}`:            {status: 200, code: -32602},
		`{"jsonrpc":"2.0","id":1,"method":"server/discover"}`:                                    {status: 200, code: -32601},
		`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{}}}`: {status: 200, code: -32601},
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`:                                 {status: 202},
		`{"jsonrpc":"2.0","method":"notifications/roots/list_changed","params":{}}`:              {status: 202},
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}`:         {status: 202},
		`{"jsonrpc":"2.0","id":"nobody's","result":{}}`:                                          {status: 202},
		`{"jsonrpc":"2.0","id":"pb-late","error":{"code":1,"message":"no"}}`:                     {status: 202},
		`{"jsonrpc":"2.0","id":"x","result":{},"error":{}}`:                                      {status: 400, code: -32600},
		`{"jsonrpc":"2.0","id":"x"}`:                                                             {status: 400, code: -32600},
		`{"jsonrpc":"2.0","id":null,"method":"ping"}`:                                            {status: 400, code: -32600},
		`{"jsonrpc":"2.0","id":{},"method":"ping"}`:                                              {status: 400, code: -32600},
		`{"jsonrpc":"1.0","id":1,"method":"ping"}`:                                               {status: 400, code: -32600},
		`{"jsonrpc":"2.0","id":1,"method":7}`:                                                    {status: 400, code: -32600},
		`{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}`:                                   {status: 400, code: -32602},
		`{"jsonrpc":"2.0","id":1,`:                                                               {status: 400, code: -32700},
		`"ping"`:                                                                                 {status: 400, code: -32600},
		`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`:                                             {status: 400, code: -32600},
	} {
		r := p.send(inSession(session, body))
		text := r.text()
		if r.StatusCode != want.status || errorCode(text) != want.code || want.code == 0 && text != want.text {
			t.Errorf("%s\n%d %s", body, r.StatusCode, text)
		}
	}
	if have := d.receivedNotifications(); have != "notifications/roots/list_changed {}" {
		t.Error(have)
	}
}

func TestBatch_2025_03_26IsAnsweredTogether(t *testing.T) {
	t.Parallel()
	p := newTestServer(t, &testBackend{answer: func(_ context.Context, r *serve.Request) (json.RawMessage, error) {
		if err := r.Notify("notifications/progress", nil); err != nil {
			t.Error(err)
		}
		return json.RawMessage(`{"of":"` + r.Name + `"}`), nil
	}})
	session := p.startSession("2025-03-26", "{}")
	batch := func(body string) (int, string) {
		r := p.send(testRequest{header: map[string]string{"Mcp-Session-Id": session}, body: body})
		return r.StatusCode, r.text()
	}
	status, text := batch(`[{"jsonrpc":"2.0","method":"notifications/initialized"},{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}},
		{"jsonrpc":"2.0","id":2,"method":"nothing","params":[]},{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"b"}}]`)
	const want = `[{"jsonrpc":"2.0","id":1,"result":{"of":"a"}},{"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"The params must be an object."}},` +
		`{"jsonrpc":"2.0","id":3,"result":{"of":"b"}}]`
	if status != 200 || text != want {
		t.Errorf("%d %s", status, text)
	}
	if status, text = batch(`[{"jsonrpc":"2.0","method":"notifications/x"}]`); status != 202 || text != "" {
		t.Errorf("notifications alone: %d %s", status, text)
	}
	for _, body := range []string{
		`[]`, `[1]`, `[{"jsonrpc":"2.0","id":1,"method":"initialize"}]`,
		`[` + strings.Repeat(`{"jsonrpc":"2.0","id":1,"method":"ping"},`, 100) + `{"jsonrpc":"2.0","id":1,"method":"ping"}]`,
	} {
		if status, text = batch(body); status != 400 || errorCode(text) != -32600 {
			t.Errorf("%.40s: %d %s", body, status, text)
		}
	}
}

func TestBatch_TooLongReplyIsAnsweredInPart(t *testing.T) {
	t.Parallel()
	served := 0
	p := newTestServer(t, &testBackend{answer: func(context.Context, *serve.Request) (json.RawMessage, error) {
		served++
		return json.RawMessage(`{"of":"` + strings.Repeat("x", 6<<20) + `"}`), nil
	}})
	r := p.send(testRequest{
		header: map[string]string{"Mcp-Session-Id": p.startSession("2025-03-26", "{}")},
		body:   `[` + strings.Repeat(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"a"}},`, 99) + `{"jsonrpc":"2.0","method":"notifications/x"}]`,
	})
	var answers []struct {
		ID     int
		Result json.RawMessage
		Error  *struct{ Code int }
	}
	if err := json.Unmarshal([]byte(r.text()), &answers); err != nil || len(answers) != 99 || served != 3 {
		t.Fatalf("%d answers of %d served, %v", len(answers), served, err)
	}
	if last := answers[98]; answers[2].Error != nil || last.ID != 7 || last.Error == nil || last.Error.Code != -32603 {
		t.Errorf("the last one: %+v", last)
	}
}

func TestLogLevel_FiltersMessagesOfSession(t *testing.T) {
	t.Parallel()
	p := newTestServer(t, &testBackend{answer: func(_ context.Context, r *serve.Request) (json.RawMessage, error) {
		_ = r.Notify("notifications/message", json.RawMessage(`{"level":"info"}`))
		return json.RawMessage("{}"), nil
	}})
	session := p.startSession("2025-11-25", "{}")
	call := inSession(session, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}`)
	if r := p.send(call); r.Header.Get("Content-Type") != "text/event-stream" {
		t.Error("at first every message is sent")
	}
	p.send(inSession(session, `{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"warning"}}`))
	if r := p.send(call); r.Header.Get("Content-Type") != "application/json" {
		t.Error("a message below the level was sent")
	}
}

func TestSession_ManyCapabilitiesAreTrimmed(t *testing.T) {
	t.Parallel()
	can := make(chan bool, 1)
	p := newTestServer(t, &testBackend{answer: func(_ context.Context, r *serve.Request) (json.RawMessage, error) {
		can <- r.Peer.Can("elicitation.url") && r.Peer.Can("sampling") && !r.Peer.Can("experimental")
		return json.RawMessage("{}"), nil
	}})
	session := p.startSession("2025-11-25", `{"elicitation":{"url":{}},"sampling":{},"experimental":{"x":"`+strings.Repeat("y", 100<<10)+`"}}`)
	if len(session) > 2<<10 {
		t.Errorf("%d bytes", len(session))
	}
	p.send(inSession(session, callWait))
	if !<-can {
		t.Error("the capabilities were lost")
	}
}
