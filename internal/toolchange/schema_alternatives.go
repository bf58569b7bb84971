package toolchange

import "fmt"

// alternatives compares the schemas of anyOf, oneOf and allOf. Equal ones are matched first, wherever they stand; of the others, one
// that went and one that came are the same alternative, changed.
func (w *walk) alternatives(path, keyword string, before, now any, depth int) {
	a, aFits := before.([]any)
	b, bFits := now.([]any)
	if before != nil && !aFits || now != nil && !bFits || (before == nil) != (now == nil) {
		w.turn(path, TypeChanged, keyed(keyword, before, before != nil), keyed(keyword, now, now != nil), "is checked in another way now: "+keyword)
		return
	}
	gone, come := w.match(path, a, b, depth)
	wider, narrower := TypeWidened, TypeNarrowed
	if keyword == "allOf" { // each of these is a condition more
		wider, narrower = narrower, wider
	}
	switch {
	case len(gone) == 1 && len(come) == 1:
		w.nodes(fmt.Sprintf("%s (alternative %d)", path, come[0]+1), a[gone[0]], b[come[0]], depth)
	case len(gone) > 0 && len(come) > 0:
		w.turn(path, TypeChanged, keyed(keyword, before, true), keyed(keyword, now, true), "has other alternatives now")
	case len(come) > 0:
		w.turn(path, wider, keyed(keyword, before, true), keyed(keyword, now, true), fmt.Sprintf("has %d more alternatives", len(come)))
	case len(gone) > 0:
		w.turn(path, narrower, keyed(keyword, before, true), keyed(keyword, now, true), fmt.Sprintf("has %d alternatives less", len(gone)))
	}
}

// match pairs equal schemas, whose references may still lead to different ones, and tells which are left on either side.
func (w *walk) match(path string, a, b []any, depth int) (gone, come []int) {
	places := map[string][]int{}
	for i, v := range b {
		key := canonical(v)
		places[key] = append(places[key], i)
	}
	taken := make([]bool, len(b))
	for i, v := range a {
		key := canonical(v)
		if len(places[key]) == 0 {
			gone = append(gone, i)
			continue
		}
		at := places[key][0]
		places[key], taken[at] = places[key][1:], true
		w.nodes(path, v, b[at], depth)
	}
	for i, t := range taken {
		if !t {
			come = append(come, i)
		}
	}
	return gone, come
}
