package toolsync

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
)

func TestWhoeverWaitsStandsBehindOneOfEachOtherTenant(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		big, small := connectors.TenantID{UUID: uuid.New()}, connectors.TenantID{UUID: uuid.New()}
		turns := newTurns(1)
		leave, err := turns.take(t.Context(), big)
		if err != nil {
			t.Fatal(err)
		}
		var served []connectors.TenantID // one at a time appends
		wait := func(of connectors.TenantID) {
			go func() {
				leave, err := turns.take(t.Context(), of)
				if err != nil {
					t.Error(err)
					return
				}
				served = append(served, of)
				leave()
			}()
			synctest.Wait()
		}
		for range 100 {
			wait(big)
		}
		for range 5 {
			wait(small)
		}
		leave()
		synctest.Wait()
		if len(served) != 105 || slices.Index(served, small) > 1 || slices.Contains(served[10:], small) {
			t.Errorf("of 105 turns the small tenant had none of the first: %v", served)
		}
		if turns.free != 1 || len(turns.waiting)+len(turns.order) != 0 {
			t.Errorf("left over: %+v", turns)
		}
	})
}

func TestWhoeverGivesUpItsTurnLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tenant := connectors.TenantID{UUID: uuid.New()}
		turns := newTurns(1)
		leave, _ := turns.take(t.Context(), tenant)
		ctx, giveUp := context.WithCancel(t.Context())
		for range 3 {
			go func() {
				if leave, err := turns.take(ctx, tenant); err == nil { // the turn may come first
					leave()
				}
			}()
		}
		synctest.Wait()
		go leave()
		giveUp()
		synctest.Wait()
		if turns.free != 1 || len(turns.waiting)+len(turns.order) != 0 {
			t.Errorf("left over: %+v", turns)
		}
	})
}
