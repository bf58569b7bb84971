package connectors_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
)

func TestUptime_WeighsHoursEqually(t *testing.T) {
	t.Parallel()
	hours := []connectors.HealthHour{{OK: 4}, {Failed: 120}, {}, {OK: 1, Failed: 1}, {OK: 4}}
	if share, ok := connectors.Uptime(hours); !ok || share != 0.625 {
		t.Errorf("%v, %v", share, ok)
	}
	if share, ok := connectors.Uptime(nil); ok || share != 0 {
		t.Errorf("without a sync: %v, %v", share, ok)
	}
}

func TestUptimePeriods_EndWithCurrentHour(t *testing.T) {
	t.Parallel()
	now := noon.Add(20 * time.Minute)
	at := func(hour int) time.Time { return noon.Add(time.Duration(hour) * time.Hour) }
	hours := []connectors.HealthHour{
		{Hour: at(-6), OK: 9, Mean: time.Hour}, // too old
		{Hour: at(-5), OK: 1, Mean: 100 * time.Millisecond, Max: 100 * time.Millisecond},
		{Hour: at(-4), OK: 2, Failed: 2, Mean: 200 * time.Millisecond, Max: 500 * time.Millisecond},
		{Hour: at(0), Failed: 1, Mean: time.Second, Max: time.Second},
	}
	want := []connectors.UptimePeriod{
		{From: at(-5), OK: 3, Failed: 2, Uptime: 0.75, Mean: 180 * time.Millisecond, Max: 500 * time.Millisecond},
		{From: at(-3)},
		{From: at(-1), Failed: 1, Mean: time.Second, Max: time.Second},
	}
	if diff := cmp.Diff(want, connectors.UptimePeriods(hours, now, 2, 3)); diff != "" {
		t.Error(diff)
	}
}
