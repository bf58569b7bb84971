package serve_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"patchbay/internal/mcp/serve"
)

// serveOnce handles a request without a connection, in a synctest bubble.
func serveOnce(s *serve.Server, b serve.Backend, a testRequest) *httptest.ResponseRecorder {
	if a.method == "" {
		a.method = http.MethodPost
	}
	r := httptest.NewRequest(a.method, "http://localhost/", strings.NewReader(a.body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for name, value := range a.header {
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	s.Handle(w, r, "me", b)
	return w
}

func TestKeepAlive_WaitingClientReadsComments(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := serve.New(serve.Options{})
		for wait, comments := range map[time.Duration]int{9 * time.Second: -1, 11 * time.Second: 1, 41 * time.Second: 3} {
			d := &testBackend{answer: func(context.Context, *serve.Request) (json.RawMessage, error) {
				time.Sleep(wait)
				return json.RawMessage("{}"), nil
			}}
			w := serveOnce(s, d, modernRequest("tools/call", `,"name":"x"`, ""))
			stream := w.Header().Get("Content-Type") == "text/event-stream"
			if stream != (comments > 0) || stream && strings.Count(w.Body.String(), ":\n\n") != comments {
				t.Errorf("after %s: %v\n%s", wait, w.Header(), w.Body)
			}
		}
	})
}

func TestResume_StoredReplyExpires(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := serve.New(serve.Options{})
		d := &testBackend{answer: func(_ context.Context, r *serve.Request) (json.RawMessage, error) {
			return json.RawMessage("{}"), r.Notify("notifications/progress", nil)
		}}
		session := startedSession(s)
		var ids []string
		for range 3 {
			text := serveOnce(s, d, inSession(session, callWait)).Body.String()
			id, _, _ := strings.Cut(strings.TrimPrefix(text, "id: "), "\n")
			ids = append(ids, id)
			time.Sleep(2 * time.Minute)
		}
		for i, want := range []int{400, 200, 200} { // streams are kept for five minutes, and six have passed
			w := serveOnce(s, d, resumeRequest(session, ids[i]))
			if w.Code != want || want == 200 && strings.Count(w.Body.String(), "data: {") != 2 {
				t.Errorf("reply %d: %d %s", i, w.Code, w.Body)
			}
		}
		time.Sleep(5 * time.Minute)
		if w := serveOnce(s, d, resumeRequest(session, ids[2])); w.Code != 400 {
			t.Errorf("in the end: %d %s", w.Code, w.Body)
		}
	})
}

func TestKeepAlive_IdleListenerReadsComments(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := serve.New(serve.Options{Log: slog.New(slog.DiscardHandler)})
		d := &testBackend{listen: func(context.Context, serve.Filter, func(string, json.RawMessage)) error {
			time.Sleep(50 * time.Second)
			return errors.New("the database is away")
		}}
		w := serveOnce(s, d, modernRequest("subscriptions/listen", `,"notifications":{}`, ""))
		if text := w.Body.String(); strings.Count(text, ":\n\n") != 3 || !strings.HasSuffix(text, `"resultType":"complete"}}`+"\n\n") {
			t.Error(text)
		}
	})
}

func TestStream_StalledClientIsAborted(t *testing.T) {
	t.Parallel()
	failed := make(chan error, 1)
	long := json.RawMessage(`{"data":"` + strings.Repeat("x", 1<<20) + `"}`)
	p := newTestServer(t, &testBackend{answer: func(_ context.Context, r *serve.Request) (json.RawMessage, error) {
		for {
			if err := r.Notify("notifications/message", long); err != nil {
				failed <- err
				return nil, err
			}
		}
	}}, func(o *serve.Options) { o.StallTimeout = 20 * time.Millisecond })
	host := strings.TrimSuffix(strings.TrimPrefix(p.url, "http://"), "/me")
	conn, err := net.Dial("tcp", host)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	const head = "POST /me HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: */*\r\nContent-Length: %d\r\n\r\n%s"
	if _, err := fmt.Fprintf(conn, head, len(callWait), callWait); err != nil {
		t.Fatal(err)
	}
	if err := <-failed; err == nil {
		t.Error("everything was sent to somebody who reads nothing")
	}
}
