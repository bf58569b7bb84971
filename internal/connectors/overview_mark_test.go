package connectors_test

import (
	"testing"
	"time"

	"patchbay/internal/connectors"
)

func TestFiguresFrom_OmitsEarlierHours(t *testing.T) {
	t.Parallel()
	hour := time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)
	call := func(h time.Time, ok, failed, other, fast int) connectors.CallHour {
		c := connectors.CallHour{Hour: h, OK: ok, Failed: failed, Other: other}
		c.Latencies[3] = fast
		return c
	}
	f := connectors.Figures{
		Calls: []connectors.CallHour{call(hour.Add(-time.Hour), 9, 9, 9, 9), call(hour, 5, 4, 3, 8), call(hour.Add(time.Hour), 1, 1, 1, 2)},
		Syncs: []connectors.SyncHour{{Hour: hour.Add(-time.Hour), OK: 9, Failed: 9, Tools: 7}, {Hour: hour, OK: 5, Failed: 4, Tools: 8}},
	}
	got := f.From(connectors.UsageMark{Since: hour.Add(time.Minute), Calls: call(hour, 2, 4, 1, 6), Syncs: connectors.SyncHour{Hour: hour, OK: 3, Failed: 4}})
	if len(got.Calls) != 2 || got.Calls[0] != call(hour, 3, 0, 2, 2) || got.Calls[1] != f.Calls[2] || !got.Since.Equal(hour.Add(time.Minute)) {
		t.Errorf("calls %+v since %v", got.Calls, got.Since)
	}
	if len(got.Syncs) != 2 || got.Syncs[0].OK+got.Syncs[0].Failed != 0 || got.Syncs[0].Tools != 7 || got.Syncs[1].OK != 2 || got.Syncs[1].Failed != 0 {
		t.Errorf("syncs %+v", got.Syncs)
	}
	if f.Calls[1] != call(hour, 5, 4, 3, 8) || f.Syncs[0].OK != 9 {
		t.Error("the figures themselves changed")
	}
}
