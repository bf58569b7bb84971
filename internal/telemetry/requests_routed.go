package telemetry

import (
	"net/http"
	"strings"
	"time"
)

// RequestsTo is [Metrics.Requests] for a door that has no chi router: route tells the pattern of a request. It costs next to nothing, and the
// response writer gives its connection away as before.
func (m *Metrics) RequestsTo(route func(*http.Request) string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		started, counted := time.Now(), &statusWriter{ResponseWriter: w}
		m.inFlight.Inc()
		r, end := m.begin(r)
		defer func() {
			m.inFlight.Dec()
			pattern, status := route(r), FinalStatus(r, counted.status)
			if end != nil {
				end(methodOf(r), pattern, status, w.Header())
			}
			m.requests.WithLabelValues(methodOf(r), pattern, statusClass(status)).Inc()
			if kind := w.Header()["Content-Type"]; len(kind) == 0 || !strings.HasPrefix(kind[0], "text/event-stream") {
				m.durations.WithLabelValues(pattern).Observe(time.Since(started).Seconds())
			}
		}()
		next.ServeHTTP(counted, r)
	})
}

// statusWriter remembers the status.
type statusWriter struct {
	http.ResponseWriter
	status int // 0: none was set
}

// WriteHeader sets the status, unless it is an interim one.
func (w *statusWriter) WriteHeader(status int) {
	if w.status == 0 && status >= http.StatusOK {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap is for [http.ResponseController].
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
