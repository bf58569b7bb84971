package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// serverMode is how the servers respond.
type serverMode int32

const (
	serverHonest    serverMode = iota
	serverDrips                // byte by byte
	serverWrongID              // the id of another request
	serverTruncates            // half of the response
	serverMistypes             // HTML
	serverFloods               // an endless response
	serverHangs                // no response until the mode ends
)

// mcpServers are the MCP servers of all tenants (2026-07-28).
type mcpServers struct {
	mode  atomic.Int32
	open  atomic.Int64 // calls in flight
	hooks struct {
		sync.Mutex
		fail atomic.Bool
		seen map[string]bool // message ids
	}

	mu      sync.Mutex // guards the fields below
	times   map[int64]int
	address string
	serve   *http.Server
	mux     *http.ServeMux
}

func newMCPServers(w *world) *mcpServers {
	u := &mcpServers{times: map[int64]int{}, mux: http.NewServeMux()}
	u.hooks.seen = map[string]bool{}
	for _, t := range w.tenants {
		handler := u.newHandler(t.mark)
		u.mux.HandleFunc("/"+t.slug+"/mcp", func(a http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "Bearer "+t.token {
				http.Error(a, "who are you?", http.StatusUnauthorized)
				return
			}
			handler.ServeHTTP(a, r)
		})
		u.mux.HandleFunc("/"+t.slug+"/hook", func(a http.ResponseWriter, r *http.Request) { u.receiveWebhook(w, t, a, r) })
	}
	return u
}

// startListening listens, at the same address each time.
func (u *mcpServers) startListening(ctx context.Context) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.address == "" {
		u.address = "127.0.0.1:0"
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", u.address)
	if err != nil {
		return err
	}
	u.address, u.serve = listener.Addr().String(), &http.Server{Handler: u.mux, ReadHeaderTimeout: time.Minute}
	go func(s *http.Server) { _ = s.Serve(listener) }(u.serve)
	return nil
}

// stopListening closes listener and connections.
func (u *mcpServers) stopListening(context.Context) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.serve.Close()
}

// receiveWebhook is a webhook's receiver.
func (u *mcpServers) receiveWebhook(w *world, t *tenant, a http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil || u.hooks.fail.Load() {
		http.Error(a, "not now", http.StatusServiceUnavailable)
		return
	}
	w.inspectText(t, "a webhook's message", body)
	u.hooks.Lock()
	u.hooks.seen[r.Header.Get("Webhook-Id")] = true
	u.hooks.Unlock()
	w.tally.countOutcome("webhooks, received", "answered")
}

// newHandler is an MCP server with the tenant's mark in each result.
func (u *mcpServers) newHandler(mark string) http.Handler {
	return http.HandlerFunc(func(a http.ResponseWriter, r *http.Request) {
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct {
				Arguments struct {
					N   int64
					SSE bool
				}
			}
		}
		body, err := io.ReadAll(r.Body)
		if err != nil || json.Unmarshal(body, &m) != nil {
			http.Error(a, "not JSON", http.StatusBadRequest)
			return
		}
		switch m.Method {
		case "server/discover":
			u.writeReply(a, r, m.ID, `{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"serverInfo":{"name":"chaos","version":"1"},"resultType":"complete"}`, false)
		case "tools/list":
			u.writeReply(a, r, m.ID, `{"tools":[{"name":"work","description":"Of `+mark+`","inputSchema":{"type":"object","properties":{"n":{"type":"integer"},"sse":{"type":"boolean"}},"required":["n"]}}],"resultType":"complete"}`, false)
		case "tools/call":
			u.open.Add(1)
			defer u.open.Add(-1)
			u.mu.Lock()
			u.times[m.Params.Arguments.N]++
			u.mu.Unlock()
			u.writeReply(a, r, m.ID, fmt.Sprintf(`{"content":[{"type":"text","text":"%s n=%d."}],"isError":false,"resultType":"complete"}`, mark, m.Params.Arguments.N), m.Params.Arguments.SSE)
		default:
			a.Header().Set("Content-Type", "application/json")
			a.WriteHeader(http.StatusNotFound)
			_, _ = fmt.Fprintf(a, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"unknown"}}`, idOrNull(m.ID))
		}
	})
}

func idOrNull(raw json.RawMessage) string {
	if len(raw) == 0 {
		return "null"
	}
	return string(raw)
}

// wrongAnswer is part of every wrong response.
const wrongAnswer = "this was never the answer"

// writeReply responds in the current mode.
func (u *mcpServers) writeReply(a http.ResponseWriter, r *http.Request, requestID json.RawMessage, result string, sse bool) {
	mode, kind := serverMode(u.mode.Load()), "application/json"
	if mode == serverWrongID {
		requestID, result = json.RawMessage(strconv.Itoa(1<<30)), `{"content":[{"type":"text","text":"`+wrongAnswer+`"}],"tools":[],"resultType":"complete"}`
	}
	text := `{"jsonrpc":"2.0","id":` + idOrNull(requestID) + `,"result":` + result + `}`
	if sse {
		kind, text = "text/event-stream", "event: message\ndata: "+text+"\n\n"
	}
	if mode == serverMistypes {
		kind, text = "text/html", "<html>"+wrongAnswer
	}
	a.Header().Set("Content-Type", kind)
	out := http.NewResponseController(a)
	switch mode {
	case serverDrips:
		for i := range text {
			_, _ = io.WriteString(a, text[i:i+1])
			_ = out.Flush()
		}
	case serverTruncates:
		_, _ = io.WriteString(a, text[:len(text)/2])
		_ = out.Flush()
		panic(http.ErrAbortHandler)
	case serverFloods:
		_, _ = io.WriteString(a, `{"jsonrpc":"2.0","id":`+idOrNull(requestID)+`,"result":{"content":[{"type":"text","text":"`+wrongAnswer)
		for part := bytes.Repeat([]byte("x"), 1<<20); r.Context().Err() == nil; {
			if _, err := a.Write(part); err != nil {
				return
			}
		}
	case serverHangs:
		_ = out.Flush()
		ticker := time.NewTicker(20 * time.Millisecond)
		defer ticker.Stop()
		for serverMode(u.mode.Load()) == serverHangs && r.Context().Err() == nil {
			<-ticker.C
		}
		panic(http.ErrAbortHandler)
	default:
		_, _ = io.WriteString(a, text)
	}
}

// callCounts is how often each call arrived.
func (u *mcpServers) callCounts() map[int64]int {
	u.mu.Lock()
	defer u.mu.Unlock()
	counts := make(map[int64]int, len(u.times))
	for n, times := range u.times {
		counts[n] = times
	}
	return counts
}

func (u *mcpServers) serverURL(t *tenant, path string) string {
	return strings.Join([]string{"http:/", u.address, t.slug, path}, "/")
}
