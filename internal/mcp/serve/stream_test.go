package serve_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"patchbay/internal/mcp/serve"
)

const callWait = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"wait"}}`

func TestReply_FirstNotificationStartsStream(t *testing.T) {
	t.Parallel()
	p := newTestServer(t, &testBackend{answer: func(_ context.Context, r *serve.Request) (json.RawMessage, error) {
		if err := r.Notify("notifications/progress", json.RawMessage(`{"progressToken":"t","progress":1}`)); err != nil {
			t.Error(err)
		}
		return json.RawMessage("{\n \"content\": []\r\n}"), nil
	}})
	for name, a := range map[string]testRequest{
		"modern":            modernRequest("tools/call", `,"name":"x"`, ""),
		"without a session": {body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}`},
	} {
		r := p.send(a)
		for header, want := range map[string]string{
			"Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no",
		} {
			if have := r.Header.Get(header); have != want {
				t.Errorf("%s: %s is %q", name, header, have)
			}
		}
		event := r.next()
		if string(event.Data) != `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":1}}` || event.ID != "" {
			t.Errorf("%s: %s %q", name, event.Data, event.ID)
		}
		if last := r.message(); !strings.HasSuffix(last, `"content": []  }}`) {
			t.Errorf("%s: %s", name, last)
		}
		r.expectEnd()
	}
}

func TestReply_JSONOnlyClientGetsNoNotifications(t *testing.T) {
	t.Parallel()
	p := newTestServer(t, &testBackend{answer: func(ctx context.Context, r *serve.Request) (json.RawMessage, error) {
		if err := r.Notify("notifications/progress", nil); err != nil {
			t.Error(err)
		}
		if _, err := r.SendRequest(ctx, "roots/list", nil); !errors.Is(err, serve.ErrRequestsUnsupported) {
			t.Error(err)
		}
		return json.RawMessage("{}"), nil
	}})
	session := p.startSession("2025-11-25", "{}")
	for _, accept := range []string{"application/json", "", "application/*;q=0.5", "application/json, text/event-stream;q=0"} {
		a := inSession(session, callWait)
		a.header["Accept"] = accept
		r := p.send(a)
		if text := r.text(); text != `{"jsonrpc":"2.0","id":7,"result":{}}` || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("accepting %q: %s", accept, text)
		}
	}
}

func TestReply_StreamOnlyClientGetsStream(t *testing.T) {
	t.Parallel()
	p := newTestServer(t, &testBackend{})
	for _, accept := range []string{"text/event-stream", "text/*"} {
		a := modernRequest("tools/call", `,"name":"x"`, "")
		a.header["Accept"] = accept
		r := p.send(a)
		if have := r.message(); have != `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete"}}` {
			t.Errorf("accepting %q: %s", accept, have)
		}
		a.header["Mcp-Method"] = "x"
		if r := p.send(a); r.StatusCode != 400 {
			t.Errorf("accepting %q, a wrong header: %d", accept, r.StatusCode)
		}
	}
}

func TestReply_SilenceStartsStreamWithComments(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	p := newTestServer(t, &testBackend{answer: func(context.Context, *serve.Request) (json.RawMessage, error) {
		<-release
		return json.RawMessage("{}"), nil
	}}, func(o *serve.Options) { o.StreamAfter, o.KeepAlive = time.Millisecond, time.Millisecond })
	r := p.send(modernRequest("tools/call", `,"name":"wait"`, ""))
	lines := bufio.NewReader(r.Body)
	for range 6 { // three comments, each with its blank line
		if line, err := lines.ReadString('\n'); err != nil || line != ":\n" && line != "\n" {
			t.Fatalf("read %q, %v", line, err)
		}
	}
	close(release)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			if data != `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete"}}`+"\n" {
				t.Error(data)
			}
			return
		}
	}
}

func TestAsk_AnsweredAtAnyProcess(t *testing.T) {
	t.Parallel()
	d := &testBackend{answer: func(ctx context.Context, r *serve.Request) (json.RawMessage, error) {
		return r.SendRequest(ctx, "elicitation/create", json.RawMessage(`{"message":"?"}`))
	}}
	a, b := newTwoServers(t, d)
	session := a.startSession("2025-11-25", `{"elicitation":{}}`)
	for name, at := range map[string]*testServer{"the same": a, "another": b} {
		for answer, want := range map[string]string{
			`"result":{"action":"accept"}`:                      `{"jsonrpc":"2.0","id":7,"result":{"action":"accept"}}`,
			`"error":{"code":-1,"message":"no","data":{"a":1}}`: `{"jsonrpc":"2.0","id":7,"error":{"code":-1,"message":"no","data":{"a":1}}}`,
		} {
			r := a.send(inSession(session, callWait))
			asked := readClientRequest(t, r)
			if asked.Method != "elicitation/create" || string(asked.Params) != `{"message":"?"}` {
				t.Fatalf("asked %+v", asked)
			}
			foreign := inSession(session, `{"jsonrpc":"2.0","id":"`+asked.ID+`","result":{"action":"stolen"}}`)
			foreign.path = "/you"
			foreign.header["Mcp-Session-Id"] = at.startSessionAt("/you")
			if have := at.send(foreign); have.StatusCode != 202 {
				t.Errorf("a foreign answer: %d", have.StatusCode)
			}
			if have := at.send(inSession(session, `{"jsonrpc":"2.0","id":"`+asked.ID+`",`+answer+`}`)); have.StatusCode != 202 {
				t.Errorf("the answer: %d", have.StatusCode)
			}
			if have := r.message(); have != want {
				t.Errorf("at %s process: %s", name, have)
			}
			r.expectEnd()
		}
	}
}

type clientRequest struct {
	ID     string
	Method string
	Params json.RawMessage
}

// readClientRequest returns the next event with data: a request to the client.
func readClientRequest(t *testing.T, r *testReply) (q clientRequest) {
	t.Helper()
	if err := json.Unmarshal([]byte(r.message()), &q); err != nil {
		t.Fatal(err)
	}
	return q
}

func (p *testServer) startSessionAt(path string) string {
	p.t.Helper()
	r := p.send(testRequest{path: path, body: `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`})
	return r.Header.Get("Mcp-Session-Id")
}

func TestCancel_EndsRequestInAnyProcess(t *testing.T) {
	t.Parallel()
	ended := make(chan error, 1)
	began := make(chan struct{}, 1)
	d := &testBackend{answer: func(ctx context.Context, r *serve.Request) (json.RawMessage, error) {
		began <- struct{}{}
		_, err := r.SendRequest(ctx, "elicitation/create", nil)
		ended <- err
		return nil, err
	}}
	a, b := newTwoServers(t, d)
	session := a.startSession("2025-11-25", `{}`)
	for name, at := range map[string]*testServer{"the same": a, "another": b} {
		r := a.send(inSession(session, callWait))
		q := readClientRequest(t, r)
		<-began
		for _, other := range []testRequest{
			inSession(a.startSession("2025-11-25", `{}`), cancelSeven), // another session
			{body: cancelSeven}, // none
			inSession(session, strings.Replace(cancelSeven, "7", `"7"`, 1)), // another id
		} {
			if have := at.send(other); have.StatusCode != 202 {
				t.Errorf("cancelled: %d", have.StatusCode)
			}
		}
		select {
		case err := <-ended:
			t.Fatalf("ended by somebody else: %v", err)
		default:
		}
		if have := at.send(inSession(session, cancelSeven)); have.StatusCode != 202 {
			t.Errorf("cancelled: %d", have.StatusCode)
		}
		if err := <-ended; !errors.Is(err, serve.ErrCancelled) {
			t.Errorf("at %s process: ended by %v", name, err)
		}
		if have := r.message(); have != `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"`+q.ID+`"}}` {
			t.Errorf("at %s process: %s", name, have)
		}
		if have := r.message(); errorCode(have) != -32603 || !strings.Contains(have, "cancelled") {
			t.Errorf("at %s process: %s", name, have)
		}
	}
}

const cancelSeven = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7,"reason":"enough"}}`

func TestStream_PrimingEventSince2025_11_25(t *testing.T) {
	t.Parallel()
	p := newTestServer(t, &testBackend{answer: func(_ context.Context, r *serve.Request) (json.RawMessage, error) {
		return json.RawMessage("{}"), r.Notify("notifications/progress", nil)
	}})
	for version, primed := range map[string]bool{"2025-11-25": true, "2025-06-18": false} {
		text := p.send(inSession(p.startSession(version, "{}"), callWait)).text()
		if strings.HasPrefix(text, "id: ") != true || strings.Contains(text, "\ndata: \n\n") != primed || strings.Count(text, "\nevent: message\n") != 2 {
			t.Errorf("%s:\n%s", version, text)
		}
	}
}

func TestReply_LongResultArrivesWhole(t *testing.T) {
	t.Parallel()
	for _, size := range []int{10 << 10, 100 << 10, 1 << 20} {
		long := `{"content":[{"type":"text","text":"` + strings.Repeat("ü", size/2) + `"}]}`
		d := &testBackend{
			answer:   func(context.Context, *serve.Request) (json.RawMessage, error) { return json.RawMessage(long), nil },
			prepared: []byte(long),
		}
		p := newTestServer(t, d)
		legacy := `{"jsonrpc":"2.0","id":7,"result":` + long + `}`
		if r := p.send(testRequest{body: callWait}); r.text() != legacy || r.ContentLength != int64(len(legacy)) {
			t.Errorf("%d bytes in the handshake era: %d, %d", size, r.StatusCode, r.ContentLength)
		}
		if have := p.send(modernRequest("tools/call", `,"name":"x"`, "")).text(); have != `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete",`+long[1:]+`}` {
			t.Errorf("%d bytes in the modern era: %.80s", size, have)
		}
		if have := p.send(modernRequest("tools/list", "", "")).text(); have != `{"jsonrpc":"2.0","id":1,"result":`+long+`}` {
			t.Errorf("%d bytes, prepared: %.80s", size, have)
		}
	}
}

func TestBackendPanic_IsInternalError(t *testing.T) {
	t.Parallel()
	p := newTestServer(t, &testBackend{answer: func(context.Context, *serve.Request) (json.RawMessage, error) { panic("a secret") }})
	for range 3 {
		if text := p.send(modernRequest("tools/list", "", "")).text(); !strings.Contains(text, "-32603") || strings.Contains(text, "a secret") {
			t.Errorf("answer = %s", text)
		}
	}
}

func TestBackendPanic_EndsOnlyItsReply(t *testing.T) {
	t.Parallel()
	p := newTestServer(t, &testBackend{
		answer: func(_ context.Context, r *serve.Request) (json.RawMessage, error) {
			_ = r.Notify("notifications/progress", nil)
			panic(http.ErrAbortHandler)
		},
		listen: func(context.Context, serve.Filter, func(string, json.RawMessage)) error { panic(http.ErrAbortHandler) },
	}, func(o *serve.Options) { o.KeepAlive = time.Nanosecond })
	session := p.startSession("2025-11-25", "{}")
	for range 10 {
		r := p.send(inSession(session, callWait))
		if _, err := io.ReadAll(r.Body); err == nil {
			t.Error("the stream came to a good end")
		}
	}
}
