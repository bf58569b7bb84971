package access

// array judges the items of an array, and how many there are.
func (r *run) array(p *plan, at int, seen *evaluated) (end int, v verdict) {
	v = accepted
	if p.enum != nil {
		if v = r.oneOfValues(p.enum, at); v == refused {
			return at, refused
		}
	}
	start, n := at, 0
	var found counted
	for at = r.space(at + 1); r.text[at] != ']'; n++ {
		item, sub := at, p.items
		if p.rare != nil && n < len(p.rare.prefix) {
			sub = p.rare.prefix[n]
		}
		var one verdict
		if at, one = r.value(sub, at, nil); one == refused {
			return at, refused
		}
		if p.rare != nil && p.rare.counts {
			r.contains(p.rare, item, n, &found, seen)
		}
		if v = min(v, one); !r.spend(workPart) {
			return at, undecided
		}
		if at = r.space(at); r.text[at] == ',' {
			at = r.space(at + 1)
		}
	}
	if n < p.minItems || p.maxItems >= 0 && n > p.maxItems {
		return at, refused
	}
	if p.rare != nil {
		v = min(v, r.rareArray(p.rare, start, n, found, seen))
	} else if seen != nil && p.items != nil {
		seen.allItems = true
	}
	return at + 1, v
}

// counted are the items that fit a contains.
type counted struct{ sure, doubtful int }

func (r *run) contains(p *rare, at, n int, found *counted, seen *evaluated) {
	switch _, fits := r.value(p.contains, at, nil); fits {
	case accepted:
		found.sure++
		if seen != nil {
			seen.addItem(r, n)
		}
	case undecided:
		found.doubtful++
		if seen != nil {
			seen.doubtful = true
		}
	}
}

// rareArray judges what is said of an array as a whole.
func (r *run) rareArray(p *rare, start, n int, found counted, seen *evaluated) verdict {
	v := accepted
	if p.counts {
		if v = found.within(p.minContains, p.maxContains); v == refused {
			return refused
		}
	}
	if seen != nil {
		seen.end = max(seen.end, min(len(p.prefix), n))
		seen.allItems = seen.allItems || p.allItems
	}
	if p.unique && n > 1 {
		if v = min(v, r.unique(start)); v == refused {
			return refused
		}
	}
	if p.evaluatesItems && !seen.allItems {
		v = min(v, r.unevaluatedItems(p, start, seen))
	}
	return v
}

func (c counted) within(least, most int) verdict {
	switch {
	case c.sure+c.doubtful < least, most >= 0 && c.sure > most:
		return refused
	case c.sure < least, most >= 0 && c.sure+c.doubtful > most:
		return undecided
	}
	return accepted
}

func (r *run) unevaluatedItems(p *rare, at int, seen *evaluated) verdict {
	v, n := accepted, 0
	for at = r.space(at + 1); r.text[at] != ']'; n++ {
		r.spend(workPart)
		end := r.skip(at)
		if n >= seen.end && !seen.items[n] {
			_, one := r.value(p.unevaluatedItems, at, nil)
			if seen.doubtful {
				one = max(one, undecided)
			}
			if v = min(v, one); v == refused || r.stopped {
				return v
			}
		}
		if at = r.space(end); r.text[at] == ',' {
			at = r.space(at + 1)
		}
	}
	seen.allItems = true
	return v
}
