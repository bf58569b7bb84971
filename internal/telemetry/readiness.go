package telemetry

import (
	"time"

	"patchbay/internal/safe"
)

// Readiness is the body of /readyz. A waiting loop does not change the status, because it is no worse on this
// replica than on others.
type Readiness struct {
	Status string          `json:"status"`
	Loops  []RestartedLoop `json:"loops,omitempty"`
}

// RestartedLoop is a background loop that panicked recently.
type RestartedLoop struct {
	Name    string    `json:"name"`
	Panics  int       `json:"panics"`
	Last    time.Time `json:"last_panic_at"`
	Waiting bool      `json:"waiting"`
}

// restartWindow is how long a restarted loop is listed.
const restartWindow = 15 * time.Minute

// BrokenLoops returns the loops of this process that wait after a panic, or panicked recently.
func BrokenLoops(now time.Time) (broken []RestartedLoop) {
	for _, l := range safe.Loops() {
		if l.Waiting || now.Sub(l.Last) < restartWindow {
			broken = append(broken, RestartedLoop(l))
		}
	}
	return broken
}
