package agentview

func (r *validator) validateArray(p *plan, pos int, evaluated *evaluatedParts) (end int, v validity) {
	v = valid
	if p.enum != nil {
		if v = r.validateEnum(p.enum, pos); v == invalid {
			return pos, invalid
		}
	}
	start, n := pos, 0
	var found containsCount
	for pos = r.skipSpace(pos + 1); r.text[pos] != ']'; n++ {
		item, sub := pos, p.items
		if p.rare != nil && n < len(p.rare.prefixItems) {
			sub = p.rare.prefixItems[n]
		}
		var result validity
		if pos, result = r.validateValue(sub, pos, nil); result == invalid {
			return pos, invalid
		}
		if p.rare != nil && p.rare.hasContains {
			r.countContains(p.rare, item, n, &found, evaluated)
		}
		if v = min(v, result); !r.spendWork(workChild) {
			return pos, undecided
		}
		if pos = r.skipSpace(pos); r.text[pos] == ',' {
			pos = r.skipSpace(pos + 1)
		}
	}
	if n < p.minItems || p.maxItems >= 0 && n > p.maxItems {
		return pos, invalid
	}
	if p.rare != nil {
		v = min(v, r.validateWholeArray(p.rare, start, n, found, evaluated))
	} else if evaluated != nil && p.items != nil {
		evaluated.allItems = true
	}
	return pos + 1, v
}

// containsCount counts the items that match contains.
type containsCount struct{ certain, possible int }

func (r *validator) countContains(p *rareKeywords, pos, n int, found *containsCount, evaluated *evaluatedParts) {
	switch _, fits := r.validateValue(p.contains, pos, nil); fits {
	case valid:
		found.certain++
		if evaluated != nil {
			evaluated.addItem(r, n)
		}
	case undecided:
		found.possible++
		if evaluated != nil {
			evaluated.isIncomplete = true
		}
	}
}

// validateWholeArray checks the keywords that need all items.
func (r *validator) validateWholeArray(p *rareKeywords, start, n int, found containsCount, evaluated *evaluatedParts) validity {
	v := valid
	if p.hasContains {
		if v = found.checkBounds(p.minContains, p.maxContains); v == invalid {
			return invalid
		}
	}
	if evaluated != nil {
		evaluated.itemCount = max(evaluated.itemCount, min(len(p.prefixItems), n))
		evaluated.allItems = evaluated.allItems || p.hasItems
	}
	if p.uniqueItems && n > 1 {
		if v = min(v, r.validateUniqueItems(start)); v == invalid {
			return invalid
		}
	}
	if p.hasUnevaluatedItems && !evaluated.allItems {
		v = min(v, r.validateUnevaluatedItems(p, start, evaluated))
	}
	return v
}

func (c containsCount) checkBounds(minimum, maximum int) validity {
	switch {
	case c.certain+c.possible < minimum, maximum >= 0 && c.certain > maximum:
		return invalid
	case c.certain < minimum, maximum >= 0 && c.certain+c.possible > maximum:
		return undecided
	}
	return valid
}

func (r *validator) validateUnevaluatedItems(p *rareKeywords, pos int, evaluated *evaluatedParts) validity {
	v, n := valid, 0
	for pos = r.skipSpace(pos + 1); r.text[pos] != ']'; n++ {
		r.spendWork(workChild)
		end := r.skipValue(pos)
		if n >= evaluated.itemCount && !evaluated.items[n] {
			_, result := r.validateValue(p.unevaluatedItems, pos, nil)
			if evaluated.isIncomplete {
				result = max(result, undecided)
			}
			if v = min(v, result); v == invalid || r.stopped {
				return v
			}
		}
		if pos = r.skipSpace(end); r.text[pos] == ',' {
			pos = r.skipSpace(pos + 1)
		}
	}
	evaluated.allItems = true
	return v
}
