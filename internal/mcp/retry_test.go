package mcp_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/mcp"
	"patchbay/internal/mcp/mcptest"
)

func cutConnection(w http.ResponseWriter, _ *http.Request, _ mcptest.Call) {
	w.Header().Set("Content-Length", "1000")
	_, _ = w.Write([]byte(`{"jsonrpc":`))
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

func TestRetry_TransientFailuresAreRetried(t *testing.T) {
	t.Parallel()
	for name, passing := range map[string]mcptest.Handler{
		"500":              mcptest.Status(500, ""),
		"502":              mcptest.Status(502, "<html>"),
		"429":              mcptest.Status(429, ""),
		"a cut connection": cutConnection,
		"a cut stream":     mcptest.Status(200, ": ping\n\n", "Content-Type", "text/event-stream"),
		"no answer at all": func(http.ResponseWriter, *http.Request, mcptest.Call) { panic(http.ErrAbortHandler) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, method := range []string{"initialize", "tools/list"} {
				times := 2
				if name == "no answer at all" && method == "tools/list" {
					times++ // the first is on a kept-alive connection and costs no attempt
				}
				synctest.Test(t, func(t *testing.T) {
					var up *mcptest.Server
					up, c := inMemory(t, mcptest.Script{Tools: mcptest.Tools(1), SessionID: "s", On: map[string]mcptest.Handler{
						method: mcptest.First(times, passing, func(w http.ResponseWriter, r *http.Request, c mcptest.Call) { up.Default(w, r, c) }),
					}})
					_, list, err := c.sync(t, mcp.Target{URL: up.URL, Retries: 2})
					if err != nil || len(list.Tools) != 1 {
						t.Errorf("%s: %d tools, error %v", method, len(list.Tools), err)
					}
					want := []time.Duration{250 * time.Millisecond, 500 * time.Millisecond}
					if diff := cmp.Diff(want, c.pauses); diff != "" {
						t.Errorf("%s: pauses (-want +got):\n%s", method, diff)
					}
				})
			}
		})
	}
}

func TestRetry_BackoffOfTheTarget(t *testing.T) {
	t.Parallel()
	up := mcptest.Start(t, mcptest.Script{On: map[string]mcptest.Handler{"initialize": mcptest.Status(503, "")}})
	c := newClient(t)
	_, _, err := c.sync(t, mcp.Target{URL: up.URL, Retries: 3, Backoff: 4 * time.Second})
	newErrorFacts(t, err)
	if diff := cmp.Diff([]time.Duration{4 * time.Second, 8 * time.Second, 10 * time.Second}, c.pauses); diff != "" {
		t.Errorf("pauses (-want +got):\n%s", diff)
	}
}

func TestRetry_CountIsBounded(t *testing.T) {
	t.Parallel()
	for _, retries := range []int{0, 1, 5} {
		up := mcptest.Start(t, mcptest.Script{On: map[string]mcptest.Handler{"initialize": mcptest.Status(503, "")}})
		_, _, err := newClient(t).sync(t, mcp.Target{URL: up.URL, Retries: retries})
		if f := newErrorFacts(t, err); f.HTTP != 503 || len(up.Calls()) != retries+1 {
			t.Errorf("%d retries: %d tries, %+v", retries, len(up.Calls()), f)
		}
	}
}

func TestRetry_PermanentFailuresAreNotRetried(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]mcptest.Handler{
		"401": mcptest.Status(401, ""), "404": mcptest.Status(404, ""), "HTML": mcptest.Status(200, "<html>"),
		"JSON-RPC error": mcptest.Answer("", func(c mcptest.Call) string { return mcptest.Failure(c, -32603, "") }),
		"a redirect":     mcptest.Status(302, "", "Location", "https://login.example.com/"),
	} {
		up := mcptest.Start(t, mcptest.Script{On: map[string]mcptest.Handler{"initialize": answer}})
		_, _, err := newClient(t).sync(t, mcp.Target{URL: up.URL, Retries: 5})
		tries := strings.Count(strings.Join(up.Methods(), " "), "initialize")
		if f := newErrorFacts(t, err); f.Retryable || tries != 1 {
			t.Errorf("%s: %d tries, %+v", name, tries, f)
		}
	}
}

func TestRetry_BackoffGrowsWithJitter(t *testing.T) {
	t.Parallel()
	up := mcptest.Start(t, mcptest.Script{On: map[string]mcptest.Handler{"initialize": mcptest.Status(503, "")}})
	c := newClient(t)
	c.Jitter = func() float64 { return 0.5 }
	_, _, _ = c.sync(t, mcp.Target{URL: up.URL, Retries: 8})
	want := []time.Duration{
		187500 * time.Microsecond, 375 * time.Millisecond, 750 * time.Millisecond, 1500 * time.Millisecond,
		3 * time.Second, 6 * time.Second, 7500 * time.Millisecond, 7500 * time.Millisecond,
	}
	if diff := cmp.Diff(want, c.pauses); diff != "" {
		t.Errorf("pauses (-want +got):\n%s", diff)
	}
}

func TestRetry_HonoursRetryAfterWithinDeadline(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		header []string
		asked  time.Duration
		pauses []time.Duration
	}{
		"seconds":         {[]string{"Retry-After", "7"}, 7 * time.Second, []time.Duration{7 * time.Second}},
		"less than ours":  {[]string{"Retry-After", "0.1"}, 100 * time.Millisecond, []time.Duration{250 * time.Millisecond}},
		"a date":          {[]string{"Date", "Sat, 21 Nov 2026 10:00:00 GMT", "Retry-After", "Sat, 21 Nov 2026 10:00:09 GMT"}, 9 * time.Second, []time.Duration{9 * time.Second}},
		"a date gone by":  {[]string{"Date", "Sat, 21 Nov 2026 10:00:00 GMT", "Retry-After", "Sat, 21 Nov 2026 09:00:00 GMT"}, 0, []time.Duration{250 * time.Millisecond}},
		"nonsense":        {[]string{"Retry-After", "soon"}, 0, []time.Duration{250 * time.Millisecond}},
		"not a number":    {[]string{"Retry-After", "NaN"}, 0, []time.Duration{250 * time.Millisecond}},
		"longer than all": {[]string{"Retry-After", "3600"}, time.Hour, nil},
		"past any clock":  {[]string{"Retry-After", "1e300"}, 24 * time.Hour, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			up := mcptest.Start(t, mcptest.Script{On: map[string]mcptest.Handler{"initialize": mcptest.Status(429, "", c.header...)}})
			client := newClient(t)
			_, _, err := client.sync(t, mcp.Target{URL: up.URL, Retries: 1})
			if diff := cmp.Diff(c.pauses, client.pauses); diff != "" {
				t.Errorf("pauses (-want +got):\n%s", diff)
			}
			if got := asError(err); got == nil || got.RetryAfter != c.asked {
				t.Errorf("error %+v, want Retry-After %v", got, c.asked)
			}
		})
	}
}

func TestRetry_EndsWithContext(t *testing.T) {
	t.Parallel()
	up := mcptest.Start(t, mcptest.Script{On: map[string]mcptest.Handler{"initialize": mcptest.Status(503, "")}})
	ctx, cancel := context.WithCancel(t.Context())
	c := newClient(t)
	c.Sleep = func(ctx context.Context, _ time.Duration) error {
		cancel()
		return ctx.Err()
	}
	_, err := c.Dial(ctx, mcp.Target{URL: up.URL, Era: mcp.EraHandshake, Retries: 5})
	if f := newErrorFacts(t, err); f.HTTP != 503 || len(up.Calls()) != 1 {
		t.Errorf("%+v after %d tries", f, len(up.Calls()))
	}
}

func TestDial_DeadServerIsUnreachable(t *testing.T) {
	t.Parallel()
	up := mcptest.Start(t, mcptest.Script{})
	up.Stop()
	c := newClient(t)
	_, _, err := c.sync(t, mcp.Target{URL: up.URL, Retries: 1})
	want := errorFacts{Phase: mcp.PhaseConnect, Reason: mcp.ReasonUnreachable, Retryable: true}
	if diff := cmp.Diff(want, newErrorFacts(t, err)); diff != "" || len(c.pauses) != 1 {
		t.Errorf("%d pauses (-want +got):\n%s", len(c.pauses), diff)
	}
}

func TestDial_OtherProtocolsAreNotQuoted(t *testing.T) {
	t.Parallel()
	up := rawServer(t, "SSH-2.0-OpenSSH secret-banner\r\n")
	_, _, err := newClient(t).sync(t, mcp.Target{URL: up})
	if f := newErrorFacts(t, err); f.Reason != mcp.ReasonUnreachable || strings.Contains(err.Error(), "secret") {
		t.Errorf("%+v: %v", f, err)
	}
	up = rawServer(t, "HTTP/1.1 200 OK\r\nsecret header without a colon\r\n\r\n")
	_, _, err = newClient(t).sync(t, mcp.Target{URL: up})
	if f := newErrorFacts(t, err); f.Reason != mcp.ReasonUnreachable || strings.Contains(err.Error(), "secret") {
		t.Errorf("%+v: %v", f, err)
	}
}
