package serve

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// goneWriter is a closed connection that still accepts writes.
type goneWriter struct {
	*httptest.ResponseRecorder
	gone bool
}

func (l *goneWriter) ClientDisconnected() bool { return l.gone }

// wrappedWriter wraps a writer, as middleware does.
type wrappedWriter struct{ http.ResponseWriter }

func (w wrappedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

type recordingRouter struct{ boxes chan []byte }

func (p *recordingRouter) Post(_ context.Context, _, _ string, message []byte, _ time.Duration) error {
	p.boxes <- message
	return nil
}

func (*recordingRouter) Fetch(context.Context, string, string) ([][]byte, error) { return nil, nil }

func (*recordingRouter) Take(context.Context, string, string) ([][]byte, error) { return nil, nil }

func TestResumableStream_LastEventSurvivesDisconnect(t *testing.T) {
	t.Parallel()
	sent := &recordingRouter{make(chan []byte, 1)}
	s := New(Options{Router: sent})
	client := &goneWriter{ResponseRecorder: httptest.NewRecorder()}
	v := &httpRequest{s: s, w: wrappedWriter{client}, r: httptest.NewRequest(http.MethodPost, "/mcp", nil), caller: "me"}
	tp := s.resumable.start(v, &Client{Session: "s", Version: "2025-06-18"}, openEventStream(v))
	if err := tp.writeStored([]byte("there\n\n"), durable); err != nil || client.Body.String() != "there\n\n" {
		t.Errorf("%q was sent: %v", client.Body, err)
	}
	client.gone = true
	if err := tp.writeStored([]byte("last\n\n"), final); err != nil || client.Body.String() != "there\n\n" {
		t.Errorf("%q was sent: %v", client.Body, err)
	}
	if got := string(<-sent.boxes); got != "\x02last\n\n" {
		t.Errorf("the other processes are told %q", got)
	}
	tp.finish()
}
