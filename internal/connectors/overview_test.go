package connectors_test

import (
	"slices"
	"testing"
	"time"

	"patchbay/internal/connectors"
)

func TestPeriods_EndWithCurrentHour(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 15, 40, 0, 0, time.UTC)
	hour := func(ago int) time.Time { return now.Truncate(time.Hour).Add(-time.Duration(ago) * time.Hour) }
	f := connectors.Figures{
		Calls: []connectors.CallHour{{Hour: hour(30), OK: 100}, {Hour: hour(23), OK: 3, Failed: 1}, {Hour: hour(0), OK: 1, Other: 1}},
		Syncs: []connectors.SyncHour{
			{Hour: hour(26), OK: 1, Tools: 7}, {Hour: hour(22), OK: 1, Tools: -1}, {Hour: hour(2), OK: 1, Tools: 11}, {Hour: hour(1), OK: 5, Failed: 2, Tools: -1},
		},
		Tools: 20,
	}
	day := f.Periods(now, 1, 24)
	if first, last := day[0], day[23]; first.Calls.Calls() != 4 || first.ErrorRate() != 0.25 || last.Calls.Calls() != 2 || !last.From.Equal(hour(0)) {
		t.Errorf("first = %+v, last = %+v", first, last)
	}
	if got := []int{day[0].Tools, day[20].Tools, day[21].Tools, day[22].Tools, day[23].Tools}; !slices.Equal(got, []int{7, 7, 11, 11, 20}) {
		t.Errorf("tools = %v", got)
	}
	whole := connectors.TotalPeriod(day)
	if whole.Calls.Calls() != 6 || whole.Syncs.OK != 7 || whole.Syncs.Failed != 2 || whole.Tools != 20 || !whole.From.Equal(hour(23)) {
		t.Errorf("whole = %+v", whole)
	}
	week := f.Periods(now, 6, 28)
	if got := connectors.TotalPeriod(week).Calls.Calls(); got != 106 || week[0].Tools != -1 {
		t.Errorf("%d calls, %d tools at the start", got, week[0].Tools)
	}
}
