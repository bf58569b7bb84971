package store_test

import (
	"testing"

	"patchbay/internal/testing/fixture"
)

func TestTheClocksTurnIsOneProcessesForASecond(t *testing.T) {
	t.Parallel()
	w := fixture.New(t)
	if mine, err := w.St.System().Syncs().ClaimClockTick(t.Context()); err != nil || !mine {
		t.Errorf("nobody had it: %v, %v", mine, err)
	}
	w.AsSystem(t, "update clock_turn set at = now() + interval '1 hour'", nil) // however slow this test is
	if mine, err := w.St.System().Syncs().ClaimClockTick(t.Context()); err != nil || mine {
		t.Errorf("somebody has it: %v, %v", mine, err)
	}
	w.AsSystem(t, "update clock_turn set at = now() - interval '1 second'", nil)
	if mine, err := w.St.System().Syncs().ClaimClockTick(t.Context()); err != nil || !mine {
		t.Errorf("a second later: %v, %v", mine, err)
	}
}
