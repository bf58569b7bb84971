package mcp_test

import (
	"encoding/json"
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

// idleServer is an HTTP+SSE server without a network, for a synctest bubble. It answers pings if told to.
type idleServer struct {
	pongs bool

	mu      sync.Mutex
	streams []*io.PipeWriter
	pings   []time.Time
}

func (q *idleServer) RoundTrip(r *http.Request) (*http.Response, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	resp := &http.Response{StatusCode: http.StatusAccepted, Header: http.Header{}, Body: http.NoBody, Request: r}
	if r.Method == http.MethodGet {
		reader, writer := io.Pipe()
		q.streams = append(q.streams, writer)
		go func() {
			<-r.Context().Done()
			_ = writer.CloseWithError(r.Context().Err())
		}()
		go q.say(writer, "event: endpoint\ndata: /messages\n\n")
		resp.StatusCode, resp.Body = http.StatusOK, reader
		resp.Header.Set("Content-Type", "text/event-stream")
		return resp, nil
	}
	var m struct {
		ID     json.RawMessage
		Method string
	}
	_ = json.NewDecoder(r.Body).Decode(&m)
	result := `{"protocolVersion":"2024-11-05","capabilities":{"tools":{}},"serverInfo":{"name":"quiet","version":"1"}}`
	switch m.Method {
	case "ping":
		q.pings = append(q.pings, time.Now())
		if !q.pongs {
			return resp, nil
		}
		result = "{}"
	case "tools/list":
		result = `{"tools":[{"name":"greet","inputSchema":{"type":"object"}}]}`
	}
	if m.ID != nil {
		go q.say(q.streams[len(q.streams)-1], fmt.Sprintf("data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\n\n", m.ID, result))
	}
	return resp, nil
}

func (q *idleServer) say(stream io.Writer, text string) {
	_, _ = io.Copy(stream, strings.NewReader(text))
}

func (q *idleServer) counts() (streams, pings int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.streams), len(q.pings)
}

func TestSSE_IdleStreamIsPingedAndReopened(t *testing.T) {
	t.Parallel()
	for _, pongs := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			q := &idleServer{pongs: pongs}
			d := &mcp.Dialer{HTTP: &http.Client{Transport: q}, Version: "1"}
			s, err := d.Dial(t.Context(), mcp.Target{URL: "http://quiet.example/sse", Transport: mcp.SSE, Timeout: 5 * time.Second})
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(29 * time.Second)
			if streams, pings := q.counts(); streams != 1 || pings != 0 {
				t.Errorf("after 29 s: %d streams, %d pings", streams, pings)
			}
			time.Sleep(20 * time.Second)
			if streams, pings := q.counts(); pings != 1 || (streams == 1) != pongs {
				t.Errorf("after 49 s, answering %v: %d streams, %d pings", pongs, streams, pings)
			}
			if list, err := s.Tools(t.Context()); err != nil || names(list) != "greet" {
				t.Errorf("answering %v: %v, %q", pongs, err, names(list))
			}
			s.Close(t.Context())
		})
	}
}
