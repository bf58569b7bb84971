package connectors_test

import (
	"testing"
	"time"

	"patchbay/internal/connectors"
)

func TestFormatBound_AsPeopleSayIt(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		50 * time.Millisecond: "50 milliseconds", time.Second: "1 second", 90 * time.Second: "90 seconds", time.Minute: "1 minute",
		5 * time.Minute: "5 minutes", 24 * time.Hour: "1 day", 365 * 24 * time.Hour: "365 days",
	} {
		if have := connectors.FormatBound(d); have != want {
			t.Errorf("%v: %q, want %q", d, have, want)
		}
	}
}
