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

// manner is how the servers answer.
type manner int32

const (
	honest    manner = iota
	drips            // byte by byte
	wrongID          // as an answer to another request
	truncates        // half, and then nothing
	mistypes         // HTML
	floods           // more than anyone should read
	hangs            // nothing until it is over
)

// upstream are the MCP servers of all tenants, in the era without handshakes.
type upstream struct {
	manner atomic.Int32
	open   atomic.Int64 // calls under way
	hooks  struct {
		sync.Mutex
		fail atomic.Bool
		seen map[string]bool // message ids
	}

	mu    sync.Mutex // guards what follows
	times map[int64]int
	at    string
	serve *http.Server
	mux   *http.ServeMux
}

func newUpstream(w *world) *upstream {
	u := &upstream{times: map[int64]int{}, mux: http.NewServeMux()}
	u.hooks.seen = map[string]bool{}
	for _, t := range w.tenants {
		open := u.server(t.mark)
		u.mux.HandleFunc("/"+t.slug+"/mcp", func(a http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "Bearer "+t.token {
				http.Error(a, "who are you?", http.StatusUnauthorized)
				return
			}
			open.ServeHTTP(a, r)
		})
		u.mux.HandleFunc("/"+t.slug+"/hook", func(a http.ResponseWriter, r *http.Request) { u.hook(w, t, a, r) })
	}
	return u
}

// up listens, at the address that it had before.
func (u *upstream) up(ctx context.Context) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.at == "" {
		u.at = "127.0.0.1:0"
	}
	var on net.ListenConfig
	listener, err := on.Listen(ctx, "tcp", u.at)
	if err != nil {
		return err
	}
	u.at, u.serve = listener.Addr().String(), &http.Server{Handler: u.mux, ReadHeaderTimeout: time.Minute}
	go func(s *http.Server) { _ = s.Serve(listener) }(u.serve)
	return nil
}

// down ends the listener and all connections.
func (u *upstream) down(context.Context) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.serve.Close()
}

// hook is a webhook's receiver.
func (u *upstream) hook(w *world, t *tenant, a http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil || u.hooks.fail.Load() {
		http.Error(a, "not now", http.StatusServiceUnavailable)
		return
	}
	w.look(t, "a webhook's message", body)
	u.hooks.Lock()
	u.hooks.seen[r.Header.Get("Webhook-Id")] = true
	u.hooks.Unlock()
	w.tally.count("webhooks, received", "answered")
}

// server is an MCP server that says its tenant's mark with each result.
func (u *upstream) server(mark string) http.Handler {
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
			u.say(a, r, m.ID, `{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"serverInfo":{"name":"chaos","version":"1"},"resultType":"complete"}`, false)
		case "tools/list":
			u.say(a, r, m.ID, `{"tools":[{"name":"work","description":"Of `+mark+`","inputSchema":{"type":"object","properties":{"n":{"type":"integer"},"sse":{"type":"boolean"}},"required":["n"]}}],"resultType":"complete"}`, false)
		case "tools/call":
			u.open.Add(1)
			defer u.open.Add(-1)
			u.mu.Lock()
			u.times[m.Params.Arguments.N]++
			u.mu.Unlock()
			u.say(a, r, m.ID, fmt.Sprintf(`{"content":[{"type":"text","text":"%s n=%d."}],"isError":false,"resultType":"complete"}`, mark, m.Params.Arguments.N), m.Params.Arguments.SSE)
		default:
			a.Header().Set("Content-Type", "application/json")
			a.WriteHeader(http.StatusNotFound)
			_, _ = fmt.Fprintf(a, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"unknown"}}`, id(m.ID))
		}
	})
}

func id(raw json.RawMessage) string {
	if len(raw) == 0 {
		return "null"
	}
	return string(raw)
}

// lie is in every answer that is none.
const lie = "this was never the answer"

// say answers in the manner of the moment.
func (u *upstream) say(a http.ResponseWriter, r *http.Request, to json.RawMessage, result string, sse bool) {
	now, kind := manner(u.manner.Load()), "application/json"
	if now == wrongID {
		to, result = json.RawMessage(strconv.Itoa(1<<30)), `{"content":[{"type":"text","text":"`+lie+`"}],"tools":[],"resultType":"complete"}`
	}
	text := `{"jsonrpc":"2.0","id":` + id(to) + `,"result":` + result + `}`
	if sse {
		kind, text = "text/event-stream", "event: message\ndata: "+text+"\n\n"
	}
	if now == mistypes {
		kind, text = "text/html", "<html>"+lie
	}
	a.Header().Set("Content-Type", kind)
	out := http.NewResponseController(a)
	switch now {
	case drips:
		for i := range text {
			_, _ = io.WriteString(a, text[i:i+1])
			_ = out.Flush()
		}
	case truncates:
		_, _ = io.WriteString(a, text[:len(text)/2])
		_ = out.Flush()
		panic(http.ErrAbortHandler)
	case floods:
		_, _ = io.WriteString(a, `{"jsonrpc":"2.0","id":`+id(to)+`,"result":{"content":[{"type":"text","text":"`+lie)
		for part := bytes.Repeat([]byte("x"), 1<<20); r.Context().Err() == nil; {
			if _, err := a.Write(part); err != nil {
				return
			}
		}
	case hangs:
		_ = out.Flush()
		again := time.NewTicker(20 * time.Millisecond)
		defer again.Stop()
		for manner(u.manner.Load()) == hangs && r.Context().Err() == nil {
			<-again.C
		}
		panic(http.ErrAbortHandler)
	default:
		_, _ = io.WriteString(a, text)
	}
}

// counts is how often each call came.
func (u *upstream) counts() map[int64]int {
	u.mu.Lock()
	defer u.mu.Unlock()
	all := make(map[int64]int, len(u.times))
	for n, times := range u.times {
		all[n] = times
	}
	return all
}

func (u *upstream) address(t *tenant, what string) string {
	return strings.Join([]string{"http:/", u.at, t.slug, what}, "/")
}
