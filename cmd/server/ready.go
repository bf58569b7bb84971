package main

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"patchbay/internal/fault"
	"patchbay/internal/respond"
	"patchbay/internal/safe"
	"patchbay/internal/store"
)

// readyTimeout is how long the database may take to answer before it counts as gone.
const readyTimeout = 2 * time.Second

// health says that the process answers. It asks nothing else: a restart mends no database.
func health(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write([]byte(`{"status":"ok"}` + "\n"))
}

// ready says whether requests can be served: the server stays, the database answers, and its schema is not older than this program's.
func ready(st *store.Store, leaving <-chan struct{}) respond.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		if closed(leaving) {
			return fault.Errorf(fault.Unavailable, "The server is being stopped.")
		}
		ctx, cancel := context.WithTimeout(r.Context(), readyTimeout)
		defer cancel()
		if err := st.Ready(ctx); err != nil {
			return err
		}
		w.Header().Set("Content-Type", "application/json")
		return json.NewEncoder(w).Encode(readiness{Status: "ready", Loops: brokenLoops(time.Now())})
	}
}

// readiness is the answer of /readyz. A loop that waits makes no replica worse than another: the status stays.
type readiness struct {
	Status string       `json:"status"`
	Loops  []brokenLoop `json:"loops,omitempty"`
}

// brokenLoop is a background loop that has panicked lately.
type brokenLoop struct {
	Name    string    `json:"name"`
	Panics  int       `json:"panics"`
	Last    time.Time `json:"last_panic_at"`
	Waiting bool      `json:"waiting"`
}

// brokenFor is how long a loop is named that was started again.
const brokenFor = 15 * time.Minute

func brokenLoops(now time.Time) (broken []brokenLoop) {
	for _, l := range safe.Loops() {
		if l.Waiting || now.Sub(l.Last) < brokenFor {
			broken = append(broken, brokenLoop(l))
		}
	}
	return broken
}

// farewell ends each connection with its next answer once the server leaves.
func farewell(next http.Handler, leaving <-chan struct{}) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if closed(leaving) {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
