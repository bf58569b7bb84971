package telemetry_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"

	"patchbay/internal/telemetry"
)

func scrape(t *testing.T, m *telemetry.Metrics) string {
	t.Helper()
	rec := httptest.NewRecorder()
	m.Private().ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if rec.Code != http.StatusOK {
		t.Fatalf("scrape answered %d", rec.Code)
	}
	return rec.Body.String()
}

func wantLines(t *testing.T, text string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("missing: %s", line)
		}
	}
}

func TestRequestsAreCountedByRouteAndStatusClass(t *testing.T) {
	t.Parallel()
	m := telemetry.NewMetrics("v1")
	r := chi.NewRouter()
	r.Use(m.Requests)
	r.Get("/connectors/{id}", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "x") })
	r.Post("/connectors/{id}", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusConflict) })
	r.Get("/events", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		if err := http.NewResponseController(w).Flush(); err != nil {
			t.Errorf("a stream cannot be flushed: %v", err)
		}
	})
	for _, req := range []string{"GET /connectors/a", "GET /connectors/b", "POST /connectors/a", "GET /nowhere", "GET /events", "BREW /connectors/a"} {
		method, path, _ := strings.Cut(req, " ")
		r.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(method, path, nil))
	}
	text := scrape(t, m)
	wantLines(t, text,
		`patchbay_http_requests_total{method="GET",route="/connectors/{id}",status="2xx"} 2`,
		`patchbay_http_requests_total{method="POST",route="/connectors/{id}",status="4xx"} 1`,
		`patchbay_http_requests_total{method="GET",route="unmatched",status="4xx"} 1`,
		`patchbay_http_requests_total{method="OTHER",route="unmatched",status="4xx"} 1`,
		`patchbay_http_request_duration_seconds_count{route="/connectors/{id}"} 3`,
		`patchbay_http_requests_in_flight 0`,
		`patchbay_build_info{version="v1"} 1`,
	)
	if strings.Contains(text, `duration_seconds_count{route="/events"}`) {
		t.Error("an event stream is timed as if it were a page")
	}
}

func TestRequestsOfADoorWithoutARouterAreCounted(t *testing.T) {
	t.Parallel()
	m := telemetry.NewMetrics("v1")
	h := m.RequestsTo(func(r *http.Request) string { return r.URL.Path }, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/refused":
			w.WriteHeader(http.StatusTooManyRequests)
		case "/stream":
			w.Header()["Content-Type"] = []string{"text/event-stream"}
			if err := http.NewResponseController(w).Flush(); err != nil {
				t.Errorf("a stream cannot be flushed: %v", err)
			}
		}
	}))
	for _, path := range []string{"/fine", "/refused", "/stream"} {
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, path, nil))
	}
	text := scrape(t, m)
	wantLines(t, text,
		`patchbay_http_requests_total{method="POST",route="/fine",status="2xx"} 1`,
		`patchbay_http_requests_total{method="POST",route="/refused",status="4xx"} 1`,
		`patchbay_http_requests_total{method="POST",route="/stream",status="2xx"} 1`,
		`patchbay_http_request_duration_seconds_count{route="/refused"} 1`,
		`patchbay_http_requests_in_flight 0`,
	)
	if strings.Contains(text, `duration_seconds_count{route="/stream"}`) {
		t.Error("an event stream is timed as if it were an answer")
	}
}

func TestRequests_ClientGoneIsNoServerError(t *testing.T) {
	t.Parallel()
	m := telemetry.NewMetrics("v1")
	var traced []int
	m.Trace(func(r *http.Request) (*http.Request, func(string, string, int, http.Header)) {
		return r, func(_, _ string, status int, _ http.Header) { traced = append(traced, status) }
	})
	fail := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/silent" {
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	late, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	for _, handler := range []http.Handler{m.Requests(fail), m.RequestsTo(func(*http.Request) string { return "unmatched" }, fail)} {
		for _, ctx := range []context.Context{gone, late, t.Context()} {
			handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil).WithContext(ctx))
		}
		handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/silent", nil).WithContext(gone))
	}
	if want := []int{499, 500, 500, 499, 499, 500, 500, 499}; !slices.Equal(traced, want) {
		t.Errorf("traced %v, want %v", traced, want)
	}
	wantLines(t, scrape(t, m),
		`patchbay_http_requests_total{method="GET",route="unmatched",status="4xx"} 4`,
		`patchbay_http_requests_total{method="GET",route="unmatched",status="5xx"} 4`,
	)
}

func TestRequestThatPanicsIsCounted(t *testing.T) {
	t.Parallel()
	m := telemetry.NewMetrics("v1")
	h := m.Requests(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	func() {
		defer func() { _ = recover() }()
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil))
	}()
	wantLines(t, scrape(t, m), `patchbay_http_requests_in_flight 0`)
}

func TestSyncRunsAndPoolAreScraped(t *testing.T) {
	t.Parallel()
	m := telemetry.NewMetrics("v1")
	m.SyncFinished("ok", 20*time.Millisecond)
	m.SyncFinished("timeout", 30*time.Second)
	m.WatchPool(func() telemetry.PoolStats {
		return telemetry.PoolStats{InUse: 3, Idle: 2, Max: 10, Waits: 7, Waited: 1500 * time.Millisecond}
	})
	m.CallFinished("ok", 3*time.Millisecond)
	m.StructuredChecked(false)
	m.WatchGateway(func() telemetry.GatewayStats {
		return telemetry.GatewayStats{Listeners: 4, Sessions: 5, Circuits: map[string]int{"open": 1}}
	})
	wantLines(t, scrape(t, m),
		`patchbay_tool_calls_total{outcome="ok"} 1`,
		`patchbay_tool_call_duration_seconds_count 1`,
		`patchbay_structured_results_total{verdict="invalid"} 1`,
		`patchbay_structured_results_total{verdict="valid"} 0`,
		`patchbay_gateway_listeners 4`,
		`patchbay_upstream_sessions 5`,
		`patchbay_upstream_circuits{state="open"} 1`,
		`patchbay_sync_runs_total{outcome="ok"} 1`,
		`patchbay_sync_runs_total{outcome="timeout"} 1`,
		`patchbay_sync_run_duration_seconds_count 2`,
		`patchbay_db_connections{state="in_use"} 3`,
		`patchbay_db_connections{state="idle"} 2`,
		`patchbay_db_connections_max 10`,
		`patchbay_db_waits_total 7`,
		`patchbay_db_wait_seconds_total 1.5`,
	)
}

func TestWhatWaitsIsScrapedWhileTheDatabaseAnswers(t *testing.T) {
	t.Parallel()
	m := telemetry.NewMetrics("v1")
	var down error
	m.WatchBacklog(func(ctx context.Context) (telemetry.Backlog, error) {
		if _, bounded := ctx.Deadline(); !bounded {
			t.Error("a scrape may wait for ever")
		}
		return telemetry.Backlog{
			Due: 3, Late: 90 * time.Second, Queued: 2, Waited: time.Second, Instances: 1, Jobs: []telemetry.Jobs{{Kind: "sync_tools", State: "available", Count: 2}},
		}, down
	})
	wantLines(t, scrape(t, m),
		`patchbay_db_up 1`,
		`patchbay_syncs_due 3`,
		`patchbay_syncs_late_seconds 90`,
		`patchbay_syncs_queued 2`,
		`patchbay_syncs_queued_seconds 1`,
		`patchbay_instances 1`,
		`patchbay_jobs{kind="sync_tools",state="available"} 2`,
	)
	down = errors.New("gone")
	text := scrape(t, m)
	wantLines(t, text, `patchbay_db_up 0`, `patchbay_http_requests_in_flight 0`)
	if strings.Contains(text, "patchbay_syncs_due") {
		t.Error("what waits is told without a database that was asked")
	}
}

func TestPrivateServesProfiles(t *testing.T) {
	t.Parallel()
	h := telemetry.NewMetrics("v1").Private()
	for path, want := range map[string]int{
		"/debug/pprof/":                  http.StatusOK,
		"/debug/pprof/goroutine?debug=1": http.StatusOK,
		"/debug/pprof/cmdline":           http.StatusOK,
		"/connectors":                    http.StatusNotFound,
	} {
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, path, nil))
		if rec.Code != want {
			t.Errorf("%s: %d, want %d", path, rec.Code, want)
		}
	}
}

func TestLoggerFormats(t *testing.T) {
	t.Parallel()
	for format, want := range map[telemetry.Format]string{
		telemetry.Auto: `"msg":"sync finished"`, // a buffer is no terminal
		telemetry.JSON: `"msg":"sync finished"`,
		telemetry.Text: `msg="sync finished"`,
	} {
		var buf bytes.Buffer
		log := telemetry.NewLogger(&buf, slog.LevelWarn, format)
		log.Info("too quiet")
		log.Warn("sync finished")
		if !strings.Contains(buf.String(), want) || strings.Contains(buf.String(), "too quiet") {
			t.Errorf("%q: %s", format, buf.String())
		}
	}
}
