package toolchange

import "fmt"

// compareAlternatives compares anyOf, oneOf and allOf. Equal schemas are matched first, at any index. A single
// removed and a single added one count as a changed alternative.
func (w *schemaComparison) compareAlternatives(path, keyword string, before, now any, depth int) {
	a, aFits := before.([]any)
	b, bFits := now.([]any)
	if before != nil && !aFits || now != nil && !bFits || (before == nil) != (now == nil) {
		w.addDifference(path, TypeChanged, keywordJSON(keyword, before, before != nil), keywordJSON(keyword, now, now != nil), "is checked in another way now: "+keyword)
		return
	}
	removed, added := w.matchEqual(path, a, b, depth)
	wider, narrower := TypeWidened, TypeNarrowed
	if keyword == "allOf" { // each is an additional condition
		wider, narrower = narrower, wider
	}
	switch {
	case len(removed) == 1 && len(added) == 1:
		w.compareNodes(fmt.Sprintf("%s (alternative %d)", path, added[0]+1), a[removed[0]], b[added[0]], depth)
	case len(removed) > 0 && len(added) > 0:
		w.addDifference(path, TypeChanged, keywordJSON(keyword, before, true), keywordJSON(keyword, now, true), "has other alternatives now")
	case len(added) > 0:
		w.addDifference(path, wider, keywordJSON(keyword, before, true), keywordJSON(keyword, now, true), fmt.Sprintf("has %d more alternatives", len(added)))
	case len(removed) > 0:
		w.addDifference(path, narrower, keywordJSON(keyword, before, true), keywordJSON(keyword, now, true), fmt.Sprintf("has %d alternatives less", len(removed)))
	}
}

// matchEqual pairs equal schemas and returns the indexes without a partner. Pairs are compared, because their
// references may differ.
func (w *schemaComparison) matchEqual(path string, a, b []any, depth int) (removed, added []int) {
	places := map[string][]int{}
	for i, v := range b {
		key := canonicalJSON(v)
		places[key] = append(places[key], i)
	}
	taken := make([]bool, len(b))
	for i, v := range a {
		key := canonicalJSON(v)
		if len(places[key]) == 0 {
			removed = append(removed, i)
			continue
		}
		index := places[key][0]
		places[key], taken[index] = places[key][1:], true
		w.compareNodes(path, v, b[index], depth)
	}
	for i, t := range taken {
		if !t {
			added = append(added, i)
		}
	}
	return removed, added
}
