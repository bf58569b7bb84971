package connectors_test

import (
	"testing"
	"time"

	"patchbay/internal/connectors"
)

func TestAFailingConnectorIsLeftAloneByTheKindOfItsFailure(t *testing.T) {
	t.Parallel()
	const quarter, day = 15 * time.Minute, 24 * time.Hour
	for name, tc := range map[string]struct {
		trouble connectors.Trouble
		want    time.Duration // negative: until somebody mends it
	}{
		"first":                  {connectors.Trouble{Temporary: true, Interval: 16 * time.Minute}, 2 * time.Minute},
		"third":                  {connectors.Trouble{Temporary: true, Interval: 16 * time.Minute, Failures: 2}, 8 * time.Minute},
		"many":                   {connectors.Trouble{Temporary: true, Interval: quarter, Failures: 1000}, time.Hour},
		"a minute's interval":    {connectors.Trouble{Temporary: true, Interval: time.Minute}, 30 * time.Second},
		"a day's interval":       {connectors.Trouble{Temporary: true, Interval: day}, time.Hour},
		"does not pass":          {connectors.Trouble{Interval: day}, day},
		"does not pass, often":   {connectors.Trouble{Interval: time.Minute, Failures: 9}, time.Hour},
		"asks to be left alone":  {connectors.Trouble{Temporary: true, Interval: quarter, RetryAfter: 90 * time.Minute}, 90 * time.Minute},
		"asks too much":          {connectors.Trouble{Temporary: true, Interval: quarter, RetryAfter: 1000 * time.Hour}, 6 * time.Hour},
		"dead":                   {connectors.Trouble{Temporary: true, Interval: quarter, Failures: 99, Failing: 72 * time.Hour}, 6 * time.Hour},
		"refused":                {connectors.Trouble{Code: "unauthorized", Interval: quarter}, -1},
		"no credential":          {connectors.Trouble{Code: "credential_required", Interval: quarter, Failing: 80 * time.Hour}, -1},
		"never synced by itself": {connectors.Trouble{Temporary: true}, -1},
	} {
		wait, ok := tc.trouble.Wait()
		if ok != (tc.want >= 0) || ok && wait != tc.want {
			t.Errorf("%s: %s, %v; want %s", name, wait, ok, tc.want)
		}
	}
}
