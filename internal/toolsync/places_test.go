package toolsync

import (
	"testing"
	"testing/synctest"
)

func TestWhereManyAskForRoomEachGetsItsShareInTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPlaces(maxPlaces)
		for p.free > 0 { // all are taken by somebody who asked alone
			p.reserve(t.Context(), perClaim)
		}
		const shards = 16
		var served []int // one at a time appends
		for shard := range shards {
			go func() {
				for range 3 {
					if n := p.reserve(t.Context(), perClaim); n > maxPlaces/2 {
						t.Errorf("%d places at once, where others ask", n)
					}
					served = append(served, shard)
				}
			}()
			synctest.Wait()
		}
		for len(served) < 3*shards {
			p.refund(1)
			synctest.Wait()
			p.refund(maxPlaces/shards - 1)
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
