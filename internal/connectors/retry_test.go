package connectors_test

import (
	"testing"
	"time"

	"patchbay/internal/connectors"
)

func TestRetryDelay_ByKindOfFailure(t *testing.T) {
	t.Parallel()
	const quarter, day = 15 * time.Minute, 24 * time.Hour
	for name, tc := range map[string]struct {
		trouble connectors.SyncFailure
		want    time.Duration // negative: until the credential is repaired
	}{
		"first":                  {connectors.SyncFailure{Temporary: true, Interval: 16 * time.Minute}, 2 * time.Minute},
		"third":                  {connectors.SyncFailure{Temporary: true, Interval: 16 * time.Minute, Failures: 2}, 8 * time.Minute},
		"many":                   {connectors.SyncFailure{Temporary: true, Interval: quarter, Failures: 1000}, time.Hour},
		"a minute's interval":    {connectors.SyncFailure{Temporary: true, Interval: time.Minute}, 30 * time.Second},
		"a day's interval":       {connectors.SyncFailure{Temporary: true, Interval: day}, time.Hour},
		"does not pass":          {connectors.SyncFailure{Interval: day}, day},
		"does not pass, often":   {connectors.SyncFailure{Interval: time.Minute, Failures: 9}, time.Hour},
		"asks to be left alone":  {connectors.SyncFailure{Temporary: true, Interval: quarter, RetryAfter: 90 * time.Minute}, 90 * time.Minute},
		"asks too much":          {connectors.SyncFailure{Temporary: true, Interval: quarter, RetryAfter: 1000 * time.Hour}, 6 * time.Hour},
		"dead":                   {connectors.SyncFailure{Temporary: true, Interval: quarter, Failures: 99, FailingFor: 72 * time.Hour}, 6 * time.Hour},
		"refused":                {connectors.SyncFailure{Code: "unauthorized", Interval: quarter}, -1},
		"no credential":          {connectors.SyncFailure{Code: "credential_required", Interval: quarter, FailingFor: 80 * time.Hour}, -1},
		"never synced by itself": {connectors.SyncFailure{Temporary: true}, -1},
	} {
		wait, ok := tc.trouble.RetryDelay()
		if ok != (tc.want >= 0) || ok && wait != tc.want {
			t.Errorf("%s: %s, %v; want %s", name, wait, ok, tc.want)
		}
	}
}
