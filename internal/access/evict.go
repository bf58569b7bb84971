package access

import (
	"cmp"
	"slices"

	"patchbay/internal/connectors"
)

// evict drops the views that were not asked for longest, until a quarter of the memory is free; never the one of keep.
func (k *Keeper) evict(keep *seat) {
	var all []*seat
	for _, agents := range k.tenants {
		for _, s := range agents {
			if s != keep && s.view.Load() != nil {
				all = append(all, s)
			}
		}
	}
	slices.SortFunc(all, func(a, b *seat) int { return cmp.Compare(a.used.Load(), b.used.Load()) })
	for _, s := range all {
		if k.bytes <= k.budget-k.budget/4 {
			return
		}
		k.install(s, nil)
	}
}

// forgetAll drops everything but the seats on which somebody listens.
func (k *Keeper) forgetAll() {
	kept := k.tenants
	for _, agents := range kept {
		for _, s := range agents {
			s.changes++ // what is on its way to it does not come back
			k.install(s, nil)
		}
	}
	k.empty()
	for tenant, agents := range kept {
		for id, s := range agents {
			if len(s.listeners) == 0 {
				continue
			}
			if k.tenants[tenant] == nil {
				k.tenants[tenant] = map[connectors.AgentID]*seat{}
			}
			k.tenants[tenant][id] = s
			k.seats++
		}
	}
}
