package connectors_test

import (
	"testing"
	"time"
	_ "time/tzdata" // the machine may have none

	"patchbay/internal/connectors"
)

func TestHistoryStart_DaysHave24Hours(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 4, 10, 12, 0, 0, 0, berlin) // the clocks were changed on 29 March
	if start := connectors.HistoryStart(now, 30); now.Sub(start) != 30*24*time.Hour {
		t.Errorf("30 days have %s", now.Sub(start))
	}
}
