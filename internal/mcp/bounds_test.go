package mcp_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/mcp"
	"patchbay/internal/mcp/mcptest"
)

const giant = 200 << 20

// writeFlood writes a beginning and then repeats the same bytes, 200 MiB in all, until a write fails.
func writeFlood(w io.Writer, beginning, again string) {
	_, _ = io.WriteString(w, beginning)
	chunk := bytes.Repeat([]byte(again), 64<<10/len(again))
	for sent := 0; sent < giant; sent += len(chunk) {
		if _, err := w.Write(chunk); err != nil {
			return
		}
	}
}

func newFloodHandler(kind, beginning, again string) mcptest.Handler {
	return func(w http.ResponseWriter, _ *http.Request, _ mcptest.Call) {
		w.Header().Set("Content-Type", kind)
		writeFlood(w, beginning, again)
	}
}

func TestResponses_AreBoundedByTheTarget(t *testing.T) {
	t.Parallel()
	const limit = 64 << 10
	list := func(length int) string {
		shell := `{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"a","inputSchema":{"type":"object"},"description":""}]}}`
		return strings.Replace(shell, `"description":"`, `"description":"`+strings.Repeat("x", length-len(shell)), 1)
	}
	json, event := "application/json", "text/event-stream"
	for name, c := range map[string]struct {
		answer mcptest.Handler
		isOver bool
	}{
		"body":                 {mcptest.Status(200, list(limit), "Content-Type", json), false},
		"longer body":          {mcptest.Status(200, list(limit+1), "Content-Type", json), true},
		"event":                {mcptest.Status(200, "data: "+list(limit-len("data: "))+"\n\n", "Content-Type", event), false},
		"longer event":         {mcptest.Status(200, "data: "+list(limit+1)+"\n\n", "Content-Type", event), true},
		"flood without length": {newFloodHandler(json, `{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"`, "x"), true},
	} {
		up := mcptest.Start(t, mcptest.Script{On: map[string]mcptest.Handler{"tools/list": c.answer}})
		_, _, err := newClient(t).sync(t, mcp.Target{URL: up.URL, MaxResponse: limit})
		failure, _ := errors.AsType[*mcp.Error](err)
		if isOver := failure != nil && failure.Reason == mcp.ReasonTooLarge && failure.Detail == "exceeded this connector's size limit"; isOver != c.isOver || !isOver && err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Not parallel: it measures the allocations of the process.
func TestGiantResponses_MemoryIsBounded(t *testing.T) {
	body, event := "sent over 8 MiB", "text/event-stream"
	for name, c := range map[string]struct {
		answer mcptest.Handler
		want   errorFacts
	}{
		"one string":  {newFloodHandler("application/json", `{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"`, "x"), errorFacts{Reason: mcp.ReasonTooLarge, HTTP: 200, Detail: body}},
		"white space": {newFloodHandler("application/json", "", " "), errorFacts{Reason: mcp.ReasonTooLarge, HTTP: 200, Detail: body}},
		"many tools":  {newFloodHandler("application/json", `{"jsonrpc":"2.0","id":2,"result":{"tools":[`, `{"name":"a"},`), errorFacts{Reason: mcp.ReasonTooLarge, HTTP: 200, Detail: body}},
		"one event":   {newFloodHandler(event, "data: ", "x"), errorFacts{Reason: mcp.ReasonTooLarge, HTTP: 200, Detail: body}},
		"many lines":  {newFloodHandler(event, "", "data: x\n"), errorFacts{Reason: mcp.ReasonTooLarge, HTTP: 200, Detail: body}},
		"many events": {newFloodHandler(event, "", "data: {}\n\n"), errorFacts{Reason: mcp.ReasonTooLarge, HTTP: 200, Detail: "sent over 10000 messages before replying"}},
		"a refusal": {func(w http.ResponseWriter, _ *http.Request, _ mcptest.Call) {
			w.WriteHeader(http.StatusBadRequest)
			writeFlood(w, "", "x")
		}, errorFacts{Reason: mcp.ReasonHTTPStatus, HTTP: 400}},
		"announced": {mcptest.Status(200, "{", "Content-Length", "209715200"), errorFacts{Reason: mcp.ReasonTooLarge, HTTP: 200, Detail: body}},
		"compressed": {func(w http.ResponseWriter, _ *http.Request, _ mcptest.Call) {
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			writeFlood(z, `{"a":"`, "x")
			_ = z.Close()
		}, errorFacts{Reason: mcp.ReasonTooLarge, HTTP: 200, Detail: body}},
	} {
		t.Run(name, func(t *testing.T) {
			up := mcptest.Start(t, mcptest.Script{On: map[string]mcptest.Handler{"tools/list": c.answer}})
			client := newClient(t)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, _, err := client.sync(t, mcp.Target{URL: up.URL})
			runtime.ReadMemStats(&after)
			c.want.Phase = mcp.PhaseList
			if diff := cmp.Diff(c.want, newErrorFacts(t, err)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if cost := after.TotalAlloc - before.TotalAlloc; cost > 32<<20 {
				t.Errorf("allocated %d MiB in all, server included", cost>>20)
			}
		})
	}
}

// newDripHandler sends a beginning and then single bytes until the client disconnects.
func newDripHandler(kind, beginning, again string) mcptest.Handler {
	return func(w http.ResponseWriter, r *http.Request, _ mcptest.Call) {
		w.Header().Set("Content-Type", kind)
		_, _ = io.WriteString(w, beginning)
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for r.Context().Err() == nil {
			_, _ = io.WriteString(w, again)
			_ = http.NewResponseController(w).Flush()
			select {
			case <-tick.C:
			case <-r.Context().Done():
			}
		}
	}
}

var slow = map[string]mcptest.Handler{
	"silence":         mcptest.Hang,
	"a body in drips": newDripHandler("application/json", `{"jsonrpc":"2.0","id":1,"result":{"a":"`, "x"),
	"blank drips":     newDripHandler("application/json", "", " "),
	"pings for ever":  newDripHandler("text/event-stream", "", ": ping\n\n"),
	"events for ever": newDripHandler("text/event-stream", "", "data: {\"method\":\"notifications/progress\"}\n\n"),
	"a line in drips": newDripHandler("text/event-stream", "data: ", "x"),
	"headers and then": func(w http.ResponseWriter, r *http.Request, c mcptest.Call) {
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		mcptest.Hang(w, r, c)
	},
	"a slow refusal": func(w http.ResponseWriter, r *http.Request, c mcptest.Call) {
		w.WriteHeader(http.StatusNotFound)
		newDripHandler("", "", "x")(w, r, c)
	},
}

func TestSlowServer_TimesOut(t *testing.T) {
	t.Parallel()
	const timeout = 5 * time.Second
	for name, answer := range slow {
		for phase, method := range map[mcp.Phase]string{mcp.PhaseInitialize: "initialize", mcp.PhaseList: "tools/list"} {
			t.Run(name+" at "+method, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					up, client := inMemory(t, mcptest.Script{On: map[string]mcptest.Handler{method: answer}})
					began := time.Now()
					_, _, err := client.sync(t, mcp.Target{URL: up.URL, Timeout: timeout})
					if took := time.Since(began); took != timeout {
						t.Errorf("took %v", took)
					}
					want := errorFacts{Phase: phase, Reason: mcp.ReasonTimeout, Retryable: true, HTTP: newErrorFacts(t, err).HTTP}
					if name == "a slow refusal" {
						want.Reason, want.Retryable = mcp.ReasonHTTPStatus, false
					}
					if diff := cmp.Diff(want, newErrorFacts(t, err)); diff != "" {
						t.Errorf("(-want +got):\n%s", diff)
					}
				})
			})
		}
	}
}

func TestInitialized_MissingResponseIsAccepted(t *testing.T) {
	t.Parallel()
	for name, answer := range slow {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				up, client := inMemory(t, mcptest.Script{
					SessionID: "s", Tools: []string{mcptest.Tool("a")}, On: map[string]mcptest.Handler{"notifications/initialized": answer},
				})
				began := time.Now()
				_, list, err := client.sync(t, mcp.Target{URL: up.URL, Timeout: 30 * time.Second})
				if took := time.Since(began); took > 5*time.Second || err != nil || names(list) != "a" {
					t.Errorf("tools %q after %v, error %v", names(list), took, err)
				}
				if diff := cmp.Diff([]string{"initialize", "notifications/initialized", "tools/list", "DELETE"}, up.Methods()); diff != "" {
					t.Errorf("methods (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestCall_TimeoutSendsCancelled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		up, client := inMemory(t, mcptest.Script{SessionID: "s", On: map[string]mcptest.Handler{"tools/list": mcptest.Hang}})
		_, _, err := client.sync(t, mcp.Target{URL: up.URL})
		newErrorFacts(t, err)
		want := []string{"initialize", "notifications/initialized", "tools/list", "notifications/cancelled", "DELETE"}
		if diff := cmp.Diff(want, up.Methods()); diff != "" {
			t.Fatalf("methods (-want +got):\n%s", diff)
		}
		calls := up.Calls()
		if got, want := string(calls[3].Params), `{"requestId":`+string(calls[2].ID)+`,"reason":"timeout"}`; got != want {
			t.Errorf("params %s, want %s", got, want)
		}
	})
}

func TestClose_SilentServerDoesNotBlock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		up, client := inMemory(t, mcptest.Script{SessionID: "s", On: map[string]mcptest.Handler{"DELETE": mcptest.Hang}})
		began := time.Now()
		_, _, err := client.sync(t, mcp.Target{URL: up.URL})
		if took := time.Since(began); err != nil || took > 3*time.Second {
			t.Errorf("took %v, error %v", took, err)
		}
	})
}

func TestClose_WorksAfterContextEnded(t *testing.T) {
	t.Parallel()
	up := mcptest.Start(t, mcptest.Script{SessionID: "s"})
	ctx, cancel := context.WithCancel(t.Context())
	s, err := newClient(t).Dial(ctx, mcp.Target{URL: up.URL, Era: mcp.EraHandshake})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	s.Close(ctx)
	s.Close(ctx)
	want := []string{"initialize", "notifications/initialized", "DELETE"}
	if diff := cmp.Diff(want, up.Methods()); diff != "" {
		t.Errorf("methods (-want +got):\n%s", diff)
	}
}

type trackedConn struct {
	net.Conn
	closed func()
}

// Close closes the connection and records it.
func (c *trackedConn) Close() error {
	c.closed()
	return c.Conn.Close()
}

func TestSlowServers_LeaveNoConnections(t *testing.T) {
	t.Parallel()
	for name, answer := range slow {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var connections, handlers atomic.Int64
				up, client := inMemory(t, mcptest.Script{On: map[string]mcptest.Handler{
					"tools/list": func(w http.ResponseWriter, r *http.Request, c mcptest.Call) {
						handlers.Add(1)
						defer handlers.Add(-1) // the server sees the disconnect
						answer(w, r, c)
					},
				}})
				transport := &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
					conn, err := up.DialContext(ctx, network, address)
					if err != nil {
						return nil, err
					}
					connections.Add(1)
					return &trackedConn{conn, sync.OnceFunc(func() { connections.Add(-1) })}, nil
				}}
				client.HTTP.Transport = transport
				_, _, err := client.sync(t, mcp.Target{URL: up.URL, Timeout: 5 * time.Second})
				newErrorFacts(t, err)
				transport.CloseIdleConnections()
				synctest.Wait()
				if connections.Load() != 0 || handlers.Load() != 0 {
					t.Errorf("%d connections and %d handlers are still open", connections.Load(), handlers.Load())
				}
			})
		})
	}
}

// Runs in a synctest bubble: every page takes nearly its whole time.
func TestSession_TotalTimeIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		transport := roundTrip(func(r *http.Request) (*http.Response, error) {
			var call struct{ ID int }
			if err := json.NewDecoder(r.Body).Decode(&call); err != nil {
				return nil, err
			}
			switch call.ID {
			case 0:
				return response(r, 202, ""), nil
			case 1:
				return response(r, 200, `{"id":1,"result":{"protocolVersion":"2025-11-25"}}`), nil
			}
			select {
			case <-time.After(25 * time.Second):
				return response(r, 200, fmt.Sprintf(`{"id":%d,"result":{"tools":[],"nextCursor":"%d"}}`, call.ID, call.ID)), nil
			case <-r.Context().Done():
				return nil, r.Context().Err()
			}
		})
		d := &mcp.Dialer{HTTP: &http.Client{Transport: transport}}
		began := time.Now()
		s, err := d.Dial(t.Context(), mcp.Target{URL: "https://mcp.example.com/", Era: mcp.EraHandshake, Timeout: 30 * time.Second, Retries: 2})
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Tools(t.Context())
		const most = 3*30*time.Second + 55*time.Second
		if took := time.Since(began); took != most || newErrorFacts(t, err).Reason != mcp.ReasonTimeout {
			t.Errorf("took %v, error %v", took, err)
		}
	})
}

func TestSession_RetriesKeepTimeBound(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		transport := roundTrip(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		})
		for retries, most := range map[int]time.Duration{0: 32 * time.Second, 3: (4*30 + 60) * time.Second} {
			d := &mcp.Dialer{HTTP: &http.Client{Transport: transport}}
			began := time.Now()
			_, err := d.Dial(t.Context(), mcp.Target{URL: "https://mcp.example.com/", Era: mcp.EraHandshake, Retries: retries})
			took := time.Since(began)
			if f := newErrorFacts(t, err); f.Reason != mcp.ReasonTimeout || took > most || took < 30*time.Second*time.Duration(retries+1) {
				t.Errorf("%d retries: took %v, %+v", retries, took, f)
			}
		}
	})
}
