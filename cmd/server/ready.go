package main

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"patchbay/internal/fault"
	"patchbay/internal/respond"
	"patchbay/internal/store"
	"patchbay/internal/telemetry"
)

// readyTimeout bounds the database's response.
const readyTimeout = 2 * time.Second

// serveHealth reports that the process responds. It checks nothing else: a restart repairs no database.
func serveHealth(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write([]byte(`{"status":"ok"}` + "\n"))
}

// newReadyHandler reports whether requests can be served: the server is not closing, the database responds, and
// its schema is at least this program's.
func newReadyHandler(st *store.Store, leaving <-chan struct{}) respond.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		if isClosed(leaving) {
			return fault.Errorf(fault.Unavailable, "The server is shutting down.")
		}
		ctx, cancel := context.WithTimeout(r.Context(), readyTimeout)
		defer cancel()
		if err := st.Ready(ctx); err != nil {
			return err
		}
		w.Header().Set("Content-Type", "application/json")
		return json.NewEncoder(w).Encode(telemetry.Readiness{Status: "ready", Loops: telemetry.BrokenLoops(time.Now())})
	}
}

// closeConnsOnShutdown closes each connection after its next response once the server leaves.
func closeConnsOnShutdown(next http.Handler, leaving <-chan struct{}) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isClosed(leaving) {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
