package toolchange

import "fmt"

// compareAlternatives compares anyOf, oneOf and allOf. Equal schemas are matched first, at any index. A single
// removed and a single added one count as a changed alternative.
func (w *schemaComparison) compareAlternatives(path, keyword string, before, now any, depth int) {
	a, aFits := before.([]any)
	b, bFits := now.([]any)
	if before != nil && !aFits || now != nil && !bFits || (before == nil) != (now == nil) {
		w.addDifference(path, TypeChanged, w.keywordJSON(keyword, before, before != nil), w.keywordJSON(keyword, now, now != nil), "is now checked differently: "+keyword)
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
		w.addDifference(path, TypeChanged, w.keywordJSON(keyword, before, true), w.keywordJSON(keyword, now, true), "now has different alternatives")
	case len(added) > 0:
		w.addDifference(path, wider, w.keywordJSON(keyword, before, true), w.keywordJSON(keyword, now, true), fmt.Sprintf("now has %d more alternatives", len(added)))
	case len(removed) > 0:
		w.addDifference(path, narrower, w.keywordJSON(keyword, before, true), w.keywordJSON(keyword, now, true), fmt.Sprintf("now has %d fewer alternatives", len(removed)))
	}
}

// matchEqual pairs equal schemas and returns the indexes without a partner. Pairs are compared, because their
// references may differ.
func (w *schemaComparison) matchEqual(path string, a, b []any, depth int) (removed, added []int) {
	places := map[valueHash][]int{}
	for i, key := range w.alternativeHashes(b) {
		places[key] = append(places[key], i)
	}
	matched := make([]bool, len(b))
	for i, key := range w.alternativeHashes(a) {
		if len(places[key]) == 0 {
			removed = append(removed, i)
			continue
		}
		index := places[key][0]
		places[key], matched[index] = places[key][1:], true
		w.compareNodes(path, a[i], b[index], depth)
	}
	for i, done := range matched {
		if !done {
			added = append(added, i)
		}
	}
	return removed, added
}

// alternativeHashes returns the hash of each alternative. It computes them once per list.
func (w *schemaComparison) alternativeHashes(list []any) []valueHash {
	if !w.work.spendUnits(2*entryWork*len(list)) || len(list) == 0 {
		return nil
	}
	if known, ok := w.hashes[&list[0]]; ok {
		return known
	}
	hashes := make([]valueHash, len(list))
	for i, v := range list {
		hashes[i] = w.work.hashValue(v)
	}
	w.hashes[&list[0]] = hashes
	return hashes
}

// alternativeConditions returns the hashes of the alternatives without texts. It computes them once per list.
func (w *schemaComparison) alternativeConditions(list []any) map[valueHash]bool {
	if known, ok := w.conditions[&list[0]]; ok {
		return known
	}
	conditions := map[valueHash]bool{}
	for _, v := range list {
		if object, isObject := v.(map[string]any); isObject && w.work.spendUnits(entryWork) {
			conditions[w.work.hashValue(w.validationKeywords(object))] = true
		}
	}
	w.conditions[&list[0]] = conditions
	return conditions
}
