package toolsync

import (
	"testing"
	"testing/synctest"
)

func TestSlotPool_SharesSlotsInTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newSlotPool(maxSlots)
		for p.free > 0 { // one reserver takes all
			p.reserveSlots(t.Context(), claimBatch)
		}
		const shards = 16
		var served []int // appended by one goroutine at a time
		for shard := range shards {
			go func() {
				for range 3 {
					if n := p.reserveSlots(t.Context(), claimBatch); n > maxSlots/2 {
						t.Errorf("%d places at once, where others ask", n)
					}
					served = append(served, shard)
				}
			}()
			synctest.Wait()
		}
		for len(served) < 3*shards {
			p.returnSlots(1)
			synctest.Wait()
			p.returnSlots(maxSlots/shards - 1)
			synctest.Wait()
		}
		for turn := range 3 {
			seen := map[int]bool{}
			for _, shard := range served[turn*shards : (turn+1)*shards] {
				seen[shard] = true
			}
			if len(seen) != shards {
				t.Errorf("in turn %d some came twice: %v", turn, served)
			}
		}
	})
}
