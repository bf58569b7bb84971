package main

import (
	"cmp"
	"slices"

	"patchbay/internal/toolsearch/searchset"
)

// tuningShare is the share of tools in the tuning part, in percent.
const tuningShare = 40

// splitByServer draws the part of each server: in a seeded order, a server goes to the part that is further from its share. Documents and
// programs are drawn apart, so that both parts have their share of each.
func splitByServer(sources []listedServer) {
	order := make([]*listedServer, len(sources))
	for i := range sources {
		order[i] = &sources[i]
	}
	slices.SortFunc(order, func(a, b *listedServer) int { return cmp.Compare(a.Server, b.Server) })
	random := newRandom("parts")
	random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	type count struct{ tuning, all int }
	counts := map[bool]*count{}
	for _, s := range order {
		c := counts[s.Kind == kindDocument]
		if c == nil {
			c = &count{}
			counts[s.Kind == kindDocument] = c
		}
		c.all += s.Tools
		s.Part = searchset.HeldOut
		if 100*(c.tuning+s.Tools/2) < tuningShare*c.all {
			s.Part = searchset.Tuning
			c.tuning += s.Tools
		}
	}
}
