package doctor

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"patchbay/internal/config"
	"patchbay/internal/telemetry"
)

func TestDoctor_NamesLoopsThatPanicked(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, c := range map[string]struct {
		loops []telemetry.RestartedLoop
		want  string
	}{
		"none":       {nil, `OK       loops          no recent panics in background loops`},
		"waits":      {[]telemetry.RestartedLoop{{Name: "history", Panics: 2, Last: at, Waiting: true}}, `PROBLEM  loops          "history" panicked 2 times, last at 2026-01-02T03:04:05Z, and is waiting to restart.*`},
		"runs again": {[]telemetry.RestartedLoop{{Name: "history", Panics: 1, Last: at}}, `NOTE     loops          "history" panicked 1 times, last at \S+, and is running again.*`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/readyz" {
					t.Errorf("it is asked %s", r.URL)
				}
				_ = json.NewEncoder(w).Encode(telemetry.Readiness{Status: "ready", Loops: c.loops})
			}))
			t.Cleanup(s.Close)
			server, err := config.ServerFlags{BaseURL: s.URL}.Check()
			if err != nil {
				t.Fatal(err)
			}
			wantFinding(t, func(e *report) { e.checkLoops(t.Context(), server, nil) }, c.want)
		})
	}
}
