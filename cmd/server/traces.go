package main

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/exaring/otelpgx"
	"github.com/jackc/pgx/v5"

	"patchbay/internal/telemetry"
	"patchbay/internal/tracing"
	"patchbay/internal/tracing/otlp"
)

// flushTimeout bounds the sending of the last traces.
const flushTimeout = 5 * time.Second

// tracingSetup has the tracers. The zero value is off.
type tracingSetup struct {
	tracer      *tracing.Tracer // nil: off
	queryTracer pgx.QueryTracer // nil: off
}

// startTraces starts sending traces if the environment names a collector, which need not be reachable.
func (s *serverRun) startTraces(ctx context.Context, metrics *telemetry.Metrics) (stop func(), err error) {
	if s.collector.Endpoint == "" {
		return func() {}, nil
	}
	e, err := otlp.Start(ctx, otlp.Options{
		Version: version(), Instance: s.instance.String(), Log: s.log, Sent: metrics.SpansSent, Lost: metrics.SpansLost,
	})
	if err != nil {
		return nil, err
	}
	s.traces = tracingSetup{tracer: e.Tracer(), queryTracer: otelpgx.NewTracer(
		otelpgx.WithTracerProvider(e.Provider()), otelpgx.WithSpanNameFunc(statementName),
		otelpgx.WithDisableConnectionDetailsInAttributes(), otelpgx.WithDisableAcquireTracer(),
	)}
	s.log = slog.New(tracing.Logs(s.log.Handler()))
	return func() {
		stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTimeout)
		defer cancel()
		e.Stop(stopping)
	}, nil
}

// statementName is the name in the comment of Patchbay's own statements, and the first word of others.
func statementName(sql string) string {
	if rest, ok := strings.CutPrefix(sql, "-- name: "); ok {
		name, _, _ := strings.Cut(rest, " ")
		return name
	}
	word, _, _ := strings.Cut(strings.TrimSpace(sql), " ")
	word, _, _ = strings.Cut(word, "\n")
	return strings.ToUpper(strings.TrimRight(word, ";"))
}

// isProgramRequest reports whether a request is a program's, whose trace is continued.
func (h *app) isProgramRequest(r *http.Request) bool {
	return strings.HasPrefix(r.URL.Path, "/api/") || h.agents.gateway.HandlesPath(r.URL.Path)
}
