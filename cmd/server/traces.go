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

// flushTime bounds the sending of what is left of traces at the end.
const flushTime = 5 * time.Second

// traces are where the operator wants them. The zero value is off.
type traces struct {
	tracer   *tracing.Tracer // nil: off
	database pgx.QueryTracer // nil: off
}

// startTraces begins to send traces where the environment names a collector. It need not be there.
func (s *serving) startTraces(ctx context.Context, metrics *telemetry.Metrics) (stop func(), err error) {
	if s.collector.Endpoint == "" {
		return func() {}, nil
	}
	e, err := otlp.Start(ctx, otlp.Options{
		Version: version(), Instance: s.instance.String(), Log: s.log, Sent: metrics.SpansSent, Lost: metrics.SpansLost,
	})
	if err != nil {
		return nil, err
	}
	s.traces = traces{tracer: e.Tracer(), database: otelpgx.NewTracer(
		otelpgx.WithTracerProvider(e.Provider()), otelpgx.WithSpanNameFunc(statementName),
		otelpgx.WithDisableConnectionDetailsInAttributes(), otelpgx.WithDisableAcquireTracer(),
	)}
	s.log = slog.New(tracing.Logs(s.log.Handler()))
	return func() {
		stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTime)
		defer cancel()
		e.Stop(stopping)
	}, nil
}

// statementName is what our own statements call themselves, and of others their first word.
func statementName(sql string) string {
	if rest, ok := strings.CutPrefix(sql, "-- name: "); ok {
		name, _, _ := strings.Cut(rest, " ")
		return name
	}
	word, _, _ := strings.Cut(strings.TrimSpace(sql), " ")
	word, _, _ = strings.Cut(word, "\n")
	return strings.ToUpper(strings.TrimRight(word, ";"))
}

// ofProgram tells whether a request is one of a program, whose trace is gone on with.
func (h *house) ofProgram(r *http.Request) bool {
	return strings.HasPrefix(r.URL.Path, "/api/") || h.agents.gateway.Serves(r.URL.Path)
}
