package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"patchbay/internal/mcp"
)

// silentServer is a server without a network, for a synctest bubble: its stream says nothing unless commentEvery is
// set. While it is hung it answers no request.
type silentServer struct {
	modern       bool
	sendsHeaders bool
	commentEvery time.Duration

	mu      sync.Mutex
	hung    bool
	streams int
	checks  int
}

func (q *silentServer) RoundTrip(r *http.Request) (*http.Response, error) {
	var m struct {
		ID     json.RawMessage
		Method string
	}
	if r.Body != nil {
		_ = json.NewDecoder(r.Body).Decode(&m)
	}
	q.mu.Lock()
	hung := q.hung
	switch m.Method {
	case "", "subscriptions/listen":
		q.streams++
	case "ping", "server/discover":
		q.checks++
	}
	q.mu.Unlock()
	resp := &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Request: r}
	var result string
	switch m.Method {
	case "", "subscriptions/listen":
		return q.openStream(r, resp)
	case "server/discover":
		if result = `{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}},"ttlMs":0,"cacheScope":"private"}`; !q.modern {
			resp.StatusCode, resp.Body = http.StatusNotFound, io.NopCloser(strings.NewReader(""))
			return resp, nil
		}
	case "initialize":
		result = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"s","version":"1"}}`
	case "ping":
		result = "{}"
	default:
		resp.StatusCode, resp.Body = http.StatusAccepted, http.NoBody
		return resp, nil
	}
	if hung {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	resp.Body = io.NopCloser(strings.NewReader(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)))
	return resp, nil
}

func (q *silentServer) openStream(r *http.Request, resp *http.Response) (*http.Response, error) {
	if r.Method == http.MethodDelete || !q.sendsHeaders {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	reader, writer := io.Pipe()
	resp.Header.Set("Content-Type", "text/event-stream")
	resp.Body = reader
	go func() {
		for q.commentEvery > 0 && r.Context().Err() == nil {
			select {
			case <-time.After(q.commentEvery):
				_, _ = io.WriteString(writer, ":\n\n")
			case <-r.Context().Done():
			}
		}
		<-r.Context().Done()
		_ = writer.CloseWithError(r.Context().Err())
	}()
	return resp, nil
}

func (q *silentServer) counts() (streams, checks int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.streams, q.checks
}

func (q *silentServer) setHung(hung bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.hung = hung
}

// listenFor opens a session and listens for a time, again whenever the stream ends. It returns the streams, the checks
// since the opening, and the last error.
func listenFor(t *testing.T, q *silentServer, d time.Duration, during func()) (streams, checks int, last error) {
	t.Helper()
	era := mcp.EraHandshake
	if q.modern {
		era = mcp.EraModern
	}
	dialer := &mcp.Dialer{HTTP: &http.Client{Transport: q}, Version: "1"}
	s, err := dialer.Dial(t.Context(), mcp.Target{URL: "http://silent.example/mcp", Transport: mcp.StreamableHTTP, Timeout: 5 * time.Second, Era: era})
	if err != nil {
		t.Fatal(err)
	}
	_, before := q.counts()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	if during != nil {
		go during()
	}
	for ctx.Err() == nil {
		if err := s.Listen(ctx, func() {}, func(mcp.Message) {}); err != nil {
			last = err
			time.Sleep(time.Second)
		}
	}
	streams, checks = q.counts()
	s.Close(t.Context())
	return streams, checks - before, last
}

func TestListen_SilentStreamIsCheckedAndReopened(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		server  *silentServer
		hangs   bool
		within  time.Duration
		streams int
		checks  int
	}{
		"answers":            {&silentServer{sendsHeaders: true}, false, 5 * time.Minute, 1, 2},
		"answers, modern":    {&silentServer{sendsHeaders: true, modern: true}, false, 5 * time.Minute, 1, 2},
		"comments":           {&silentServer{sendsHeaders: true, commentEvery: 30 * time.Second}, false, 10 * time.Minute, 1, 0},
		"comments, modern":   {&silentServer{sendsHeaders: true, modern: true, commentEvery: 30 * time.Second}, false, 10 * time.Minute, 1, 0},
		"hung":               {&silentServer{sendsHeaders: true}, true, 3 * time.Minute, 2, 1},
		"hung, modern":       {&silentServer{sendsHeaders: true, modern: true}, true, 3 * time.Minute, 2, 1},
		"hung, no headers":   {&silentServer{}, true, 3 * time.Minute, 2, 1},
		"an hour":            {&silentServer{sendsHeaders: true}, false, 61 * time.Minute, 2, 29},
		"an hour, modern":    {&silentServer{sendsHeaders: true, modern: true}, false, 61 * time.Minute, 2, 29},
		"no headers":         {&silentServer{}, false, 5 * time.Minute, 1, 2},
		"no headers, modern": {&silentServer{modern: true}, false, 5 * time.Minute, 1, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				q := tc.server
				var hang func()
				if tc.hangs {
					hang = func() { time.Sleep(time.Minute); q.setHung(true) }
				}
				streams, checks, err := listenFor(t, q, tc.within, hang)
				if streams != tc.streams || checks != tc.checks {
					t.Errorf("%d streams, %d checks, error %v", streams, checks, err)
				}
				if failure, ok := errors.AsType[*mcp.Error](err); ok && !failure.Retryable {
					t.Errorf("the stream ended for good: %v", err)
				}
			})
		})
	}
}
