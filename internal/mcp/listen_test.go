package mcp_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"patchbay/internal/mcp"
	"patchbay/internal/mcp/mcptest"
)

func serveSilently(w http.ResponseWriter, r *http.Request, _ mcptest.Call) {
	w.Header().Set("Content-Type", "text/event-stream")
	_ = http.NewResponseController(w).Flush()
	<-r.Context().Done()
}

func TestListen_CallsOpened(t *testing.T) {
	t.Parallel()
	for _, script := range []mcptest.Script{
		{On: map[string]mcptest.Handler{"GET": serveSilently}},
		{Modern: true, On: map[string]mcptest.Handler{
			"subscriptions/listen": newAnnouncingHandler(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged"}`),
		}},
	} {
		up := mcptest.Start(t, script)
		ctx, cancel := context.WithCancel(t.Context())
		if err := dial(t, mcp.Target{URL: up.URL}).Listen(ctx, cancel, func(mcp.Message) {}); err != nil {
			t.Errorf("modern %v: %v", script.Modern, err)
		}
	}
}

func TestListen_RefusedStreamIsNotOpened(t *testing.T) {
	t.Parallel()
	for _, script := range []mcptest.Script{
		{},
		{On: map[string]mcptest.Handler{"GET": mcptest.Answer("text/html", func(mcptest.Call) string { return "<html>" })}},
		{Modern: true},
	} {
		up := mcptest.Start(t, script)
		err := dial(t, mcp.Target{URL: up.URL}).Listen(t.Context(), func() { t.Error("opened") }, func(mcp.Message) {})
		if f := newErrorFacts(t, err); f.Phase != mcp.PhaseListen || f.Retryable {
			t.Errorf("%+v", f)
		}
	}
}

func TestListen_FloodEndsStream(t *testing.T) {
	t.Parallel()
	up := mcptest.Start(t, mcptest.Script{On: map[string]mcptest.Handler{"GET": func(w http.ResponseWriter, _ *http.Request, _ mcptest.Call) {
		w.Header().Set("Content-Type", "text/event-stream")
		for line := strings.Repeat(": nothing\n", 1000); ; {
			if _, err := io.WriteString(w, line); err != nil {
				return
			}
		}
	}}})
	err := dial(t, mcp.Target{URL: up.URL}).Listen(t.Context(), func() {}, func(mcp.Message) {})
	if f := newErrorFacts(t, err); f.Reason != mcp.ReasonTooLarge || f.Retryable {
		t.Errorf("%+v", f)
	}
}

// cuttableTransport is a server that can become unreachable.
type cuttableTransport struct {
	idleServer
	dead atomic.Bool
}

func (m *cuttableTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if m.dead.Load() {
		return nil, errors.New("nobody there")
	}
	return m.idleServer.RoundTrip(r)
}

func TestListen_SSEReportsEndOfStream(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		up := &cuttableTransport{idleServer: idleServer{pongs: true}}
		d := &mcp.Dialer{HTTP: &http.Client{Transport: up}, Version: "1"}
		s, err := d.Dial(t.Context(), mcp.Target{URL: "http://mortal.example/sse", Transport: mcp.SSE, Timeout: 5 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		err = s.Listen(t.Context(), func() {
			up.dead.Store(true)
			_ = up.streams[0].Close()
		}, func(mcp.Message) {})
		if f := newErrorFacts(t, err); f.Phase != mcp.PhaseListen || !f.Retryable {
			t.Errorf("%+v", f)
		}
		s.Close(t.Context())
	})
}

// silentTransport is a server that sends no headers before its first message.
type silentTransport struct{}

func (silentTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodGet {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	text, _ := io.ReadAll(r.Body)
	resp := &http.Response{StatusCode: http.StatusAccepted, Header: http.Header{}, Body: http.NoBody, Request: r}
	if bytes.Contains(text, []byte("initialize\"")) {
		resp.StatusCode = http.StatusOK
		resp.Body = io.NopCloser(strings.NewReader(`{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"r"}}}`))
	}
	return resp, nil
}

func TestListen_SilentStreamCountsAsOpen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &mcp.Dialer{HTTP: &http.Client{Transport: silentTransport{}}, Version: "1"}
		s, err := d.Dial(t.Context(), mcp.Target{URL: "http://reticent.example/", Era: mcp.EraHandshake})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		began := time.Now()
		err = s.Listen(ctx, cancel, func(mcp.Message) {})
		if took := time.Since(began); err != nil || took != 5*time.Second {
			t.Errorf("after %v: %v", took, err)
		}
		s.Close(t.Context())
	})
}
