package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"patchbay/internal/mcp"
)

// legacyServer speaks HTTP+SSE (2024-11-05) at /sse, with the deviations that its fields choose.
type legacyServer struct {
	endpoint string // of the first event; empty: /messages?session=N
	events   string // sent before the endpoint
	inPost   bool   // replies are in the POST's response
	cutAfter string // the stream is cut once when this method arrives; its reply comes on the next stream
	forgets  bool   // each stream is a new session
	silent   bool   // no endpoint event
	status   int    // of the stream; 0: 200
	refuses  int    // status of every POST; 0: none
	atRoot   bool   // the stream is at /, where POST gets 405
	notes    bool   // calls are answered, after a log message

	*httptest.Server
	mu       sync.Mutex
	sessions int
	streams  int
	posts    []string // methods
	seen     []http.Header
	now      chan string // of the open stream
	late     []string    // for the next stream
	cut      bool
}

func (o *legacyServer) start(t *testing.T) *legacyServer {
	t.Helper()
	path := "/sse"
	if o.atRoot {
		path = "/"
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+path, o.stream)
	mux.HandleFunc("POST /messages", o.message)
	o.Server = httptest.NewServer(mux)
	t.Cleanup(o.Close)
	o.URL += path
	return o
}

func (o *legacyServer) stream(w http.ResponseWriter, r *http.Request) {
	if o.status != 0 {
		w.WriteHeader(o.status)
		return
	}
	o.mu.Lock()
	out := make(chan string, 100)
	o.now = out
	o.streams++
	o.seen = append(o.seen, r.Header.Clone())
	if o.sessions == 0 || o.forgets {
		o.sessions++
	}
	endpoint := o.endpoint
	if endpoint == "" {
		endpoint = fmt.Sprintf("/messages?session=%d", o.sessions)
	}
	late := o.late
	o.late = nil
	o.mu.Unlock()

	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	_, _ = io.WriteString(w, o.events)
	if !o.silent {
		_, _ = fmt.Fprintf(w, "event: endpoint\ndata: %s\n\n", endpoint)
	}
	for _, text := range late {
		_, _ = fmt.Fprintf(w, "id: 8\ndata: %s\n\n", text)
	}
	flush := http.NewResponseController(w).Flush
	_ = flush()
	if o.silent {
		return
	}
	for {
		select {
		case text, ok := <-out:
			if !ok {
				return
			}
			_, _ = fmt.Fprintf(w, "event: message\nid: 7\ndata: %s\n\n", text)
			_ = flush()
		case <-r.Context().Done():
			return
		}
	}
}

func (o *legacyServer) message(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var m struct {
		ID     json.RawMessage
		Method string
	}
	_ = json.Unmarshal(body, &m)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.posts = append(o.posts, m.Method)
	o.seen = append(o.seen, r.Header.Clone())
	switch {
	case o.refuses != 0:
		w.WriteHeader(o.refuses)
		return
	case r.URL.Query().Get("session") != fmt.Sprint(o.sessions):
		http.Error(w, "no such session", http.StatusNotFound)
		return
	case m.ID == nil:
		w.WriteHeader(http.StatusAccepted)
		return
	}
	text := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"?"}}`, m.ID)
	switch m.Method {
	case "initialize":
		text = fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2024-11-05","capabilities":{"tools":{}},"serverInfo":{"name":"old","version":"1"}}}`, m.ID)
	case "tools/list":
		text = fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"greet","inputSchema":{"type":"object"}}]}}`, m.ID)
	}
	if m.Method == "tools/call" && o.notes {
		o.now <- `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}`
		text = fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}`, m.ID)
	}
	switch {
	case o.cutAfter == m.Method && !o.cut:
		o.cut = true
		o.late = append(o.late, text)
		close(o.now)
	case o.inPost:
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, text)
		return
	default:
		o.now <- text
	}
	w.WriteHeader(http.StatusAccepted)
	_, _ = io.WriteString(w, "Accepted")
}

func TestSSE_ToolsAreListed(t *testing.T) {
	t.Parallel()
	for name, old := range map[string]*legacyServer{
		"as it was meant":                  {},
		"with replies in the posts":        {inPost: true},
		"with something before":            {events: ": hello\nretry: 10\n\nevent: ping\ndata: {}\n\n"},
		"cut, and taken up again":          {cutAfter: "tools/list"},
		"cut, and it has forgotten":        {cutAfter: "tools/list", forgets: true},
		"an endpoint relative to the path": {endpoint: "messages?session=1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old.start(t)
			target := mcp.Target{URL: old.URL, Transport: mcp.SSE, Header: http.Header{"Authorization": {"Bearer t"}}}
			server, list, err := newClient(t).sync(t, target)
			if err != nil || server.Name != "old" || names(list) != "greet" {
				t.Fatalf("%v, %+v, %q", err, server, names(list))
			}
			old.mu.Lock()
			defer old.mu.Unlock()
			for _, header := range old.seen {
				if header.Get("Authorization") != "Bearer t" || !strings.HasPrefix(header.Get("User-Agent"), "patchbay/") {
					t.Errorf("a request without its headers: %v", header)
				}
			}
			if want := map[bool]int{true: 3, false: 2}[old.forgets]; old.cutAfter != "" && old.streams != want {
				t.Errorf("%d streams", old.streams)
			}
		})
	}
}

func TestSSE_IsDetected(t *testing.T) {
	t.Parallel()
	old := (&legacyServer{atRoot: true}).start(t)
	s, err := newClient(t).Dial(t.Context(), mcp.Target{URL: old.URL, Timeout: patience})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(t.Context())
	if list, err := s.Tools(t.Context()); err != nil || names(list) != "greet" || s.Era() != mcp.EraSSE {
		t.Errorf("%v, %q, era %q", err, names(list), s.Era())
	}
}

func TestSSE_ServerErrors(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		old    *legacyServer
		reason mcp.Reason
		detail string
	}{
		"an endpoint on another host":   {&legacyServer{endpoint: "https://evil.example/messages"}, mcp.ReasonRedirect, "wants messages sent to https://evil.example"},
		"an endpoint without a scheme":  {&legacyServer{endpoint: "//evil.example/messages"}, mcp.ReasonRedirect, "wants messages sent to http://evil.example"},
		"an endpoint with a backslash":  {&legacyServer{endpoint: `http://127.0.0.1\@evil.example/`}, mcp.ReasonRedirect, "sent no valid message URL"},
		"an endpoint with a user":       {&legacyServer{endpoint: "http://a:b@127.0.0.1/messages"}, mcp.ReasonRedirect, "wants messages sent to http://127.0.0.1"},
		"an endpoint that is a script":  {&legacyServer{endpoint: "javascript:alert(1)"}, mcp.ReasonRedirect, "sent no valid message URL"},
		"no endpoint":                   {&legacyServer{silent: true}, mcp.ReasonProtocol, "closed the stream before replying"},
		"a stream that wants a sign-in": {&legacyServer{status: 401}, mcp.ReasonUnauthorized, ""},
		"no stream":                     {&legacyServer{status: 404}, mcp.ReasonHTTPStatus, ""},
		"posts that are refused":        {&legacyServer{refuses: 403}, mcp.ReasonUnauthorized, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tc.old.start(t)
			_, _, err := newClient(t).sync(t, mcp.Target{URL: tc.old.URL, Transport: mcp.SSE})
			failure, ok := errors.AsType[*mcp.Error](err)
			if !ok || failure.Reason != tc.reason || failure.Detail != tc.detail {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestSSE_ReconnectStopsAfterTheTarget(t *testing.T) {
	t.Parallel()
	none, two := 0, 2
	for _, reconnects := range []*int{nil, &none, &two} {
		testReconnects(t, reconnects)
	}
}

func testReconnects(t *testing.T, reconnects *int) {
	t.Helper()
	old := &legacyServer{cutAfter: "tools/list"}
	old.start(t)
	c := newClient(t)
	s, err := c.Dial(t.Context(), mcp.Target{URL: old.URL, Transport: mcp.SSE, Timeout: patience, Reconnects: reconnects})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(context.WithoutCancel(t.Context()))
	old.mu.Lock()
	old.status = http.StatusServiceUnavailable
	old.mu.Unlock()
	_, err = s.Tools(t.Context())
	failure, ok := errors.AsType[*mcp.Error](err)
	if isAsked := reconnects == nil || *reconnects > 0; !ok || isAsked && failure.HTTPStatus != http.StatusServiceUnavailable {
		t.Errorf("%v", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	want := 5
	if reconnects != nil {
		want = *reconnects
	}
	if len(c.pauses) != want {
		t.Errorf("%d pauses, want %d: %v", len(c.pauses), want, c.pauses)
	}
}
