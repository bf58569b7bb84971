package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"patchbay/internal/config"
	"patchbay/internal/safe"
)

// panickedLoop is a loop of this process that panicked, and waits or has ended.
func panickedLoop(t *testing.T, name string, waits bool) restartedLoop {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	started, over := make(chan struct{}, 1), make(chan struct{})
	go func() {
		defer close(over)
		safe.RunLoop(ctx, name, func(context.Context) {
			started <- struct{}{}
			if !waits {
				cancel()
			}
			panic("of a test")
		})
	}()
	<-started
	if !waits {
		<-over
	}
	t.Cleanup(func() { cancel(); <-over })
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		for _, l := range brokenLoops(time.Now()) {
			if l.Name == name && l.Waiting == waits {
				return l
			}
		}
	}
	t.Fatal("the loop is not named")
	return restartedLoop{}
}

func TestReadyz_NamesLoopsThatPanicked(t *testing.T) {
	t.Parallel()
	waits, runs := panickedLoop(t, "a loop that waits", true), panickedLoop(t, "a loop that runs again", false)
	if waits.Panics != 1 || runs.Panics != 1 || time.Since(runs.Last) > time.Minute {
		t.Errorf("loops = %+v, %+v", waits, runs)
	}
	later := brokenLoops(time.Now().Add(restartWindow + time.Minute))
	for _, l := range later {
		if l.Name == runs.Name {
			t.Errorf("%+v is named for too long", l)
		}
	}
}

func TestDoctor_NamesLoopsThatPanicked(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, c := range map[string]struct {
		loops []restartedLoop
		want  string
	}{
		"none":       {nil, `OK       loops          no background loop has panicked lately`},
		"waits":      {[]restartedLoop{{Name: "history", Panics: 2, Last: at, Waiting: true}}, `PROBLEM  loops          "history" panicked 2 times, last at 2026-01-02T03:04:05Z, and waits .*`},
		"runs again": {[]restartedLoop{{Name: "history", Panics: 1, Last: at}}, `NOTE     loops          "history" panicked 1 times, last at \S+, and runs again.*`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/readyz" {
					t.Errorf("it is asked %s", r.URL)
				}
				_ = json.NewEncoder(w).Encode(readiness{Status: "ready", Loops: c.loops})
			}))
			t.Cleanup(s.Close)
			server, err := config.ServerFlags{BaseURL: s.URL}.Check()
			if err != nil {
				t.Fatal(err)
			}
			wantFinding(t, func(e *doctorReport) { e.checkLoops(t.Context(), server, nil) }, c.want)
		})
	}
}
