package access

// object judges the members of an object, and how many there are.
func (r *run) object(p *plan, at int, seen *evaluated) (end int, v verdict) {
	v = accepted
	if p.enum != nil {
		if v = r.oneOfValues(p.enum, at); v == refused {
			return at, refused
		}
	}
	start, count, there := at, 0, presence{}
	if p.tracked > 64 {
		there.wide = len(r.bits)
		r.bits = append(r.bits, make([]uint64, p.tracked/64+1)...)
		defer func() { r.bits = r.bits[:there.wide] }()
		r.spend(p.tracked)
	}
	outermost := r.withoutNulls && at == r.root
	for at = r.space(at + 1); r.text[at] != '}'; {
		name, colon := r.quoted(at)
		key := at
		at = r.space(r.space(colon) + 1)
		if outermost && r.text[at] == 'n' {
			at = r.skip(at)
		} else {
			count++
			m := r.member(p, name)
			if m.index > 0 {
				r.note(p, &there, m.index)
			}
			var one verdict
			if at, one = r.memberValue(p, m, key, at, seen); one == refused {
				return at, refused
			}
			v = min(v, one)
		}
		if !r.spend(workPart) {
			return at, undecided
		}
		if at = r.space(at); r.text[at] == ',' {
			at = r.space(at + 1)
		}
	}
	if p.rare != nil {
		return at + 1, min(v, r.rareObject(p, start, count, there, seen))
	}
	if there.bits != p.needed {
		return at, refused
	}
	return at + 1, v
}

// memberValue judges the value of a member whose name stands at key.
func (r *run) memberValue(p *plan, m member, key, at int, seen *evaluated) (end int, v verdict) {
	if p.rare != nil {
		return r.rareMember(p, m, key, at, seen)
	}
	sub := m.plan
	if !m.declared {
		sub = p.others
	}
	end, v = r.value(sub, at, nil)
	if seen != nil && (m.declared || p.others != nil) {
		seen.addMember(r, key)
	}
	return end, v
}

// presence are the members of an object that matter and are there, by their indexes.
type presence struct {
	bits uint64
	wide int // where they stand in run.bits, of plans that track more than 64
}

func (r *run) note(p *plan, there *presence, index int) {
	if p.tracked > 64 {
		r.bits[there.wide+index/64] |= 1 << (index % 64)
		return
	}
	there.bits |= 1 << (index - 1)
}

func (r *run) has(p *plan, there presence, index int) bool {
	if p.tracked > 64 {
		return r.bits[there.wide+index/64]&(1<<(index%64)) != 0
	}
	return there.bits&(1<<(index-1)) != 0
}

// member is what a plan says of the member of a name.
func (r *run) member(p *plan, name quoted) member {
	if name.plain {
		return p.members[string(name.raw)]
	}
	if len(name.raw) > len(`\u0000`)*p.longest {
		return member{}
	}
	return p.members[string(r.unescaped(name))]
}

// rareMember judges a member by patternProperties and propertyNames, too.
func (r *run) rareMember(p *plan, m member, key, at int, seen *evaluated) (end int, v verdict) {
	end, v = -1, accepted
	evaluated, doubtful := m.declared, false
	if m.declared {
		if end, v = r.value(m.plan, at, nil); v == refused {
			return at, refused
		}
	}
	for _, one := range p.rare.patterns {
		name, _ := r.quoted(key)
		match := r.matches(one.pattern, name)
		if match == refused {
			continue
		}
		_, fits := r.value(one.plan, at, nil)
		if match == accepted {
			v, evaluated = min(v, fits), true
		} else {
			v, doubtful = min(v, max(fits, undecided)), true
		}
		if v == refused || r.stopped {
			return at, min(v, undecided)
		}
	}
	if !evaluated && p.rare.allMembers {
		var fits verdict
		if end, fits = r.value(p.others, at, nil); fits == refused && doubtful {
			end, fits = -1, undecided
		}
		v, evaluated, doubtful = min(v, fits), true, false
	}
	if p.rare.names != nil && v != refused {
		_, fits := r.value(p.rare.names, key, nil)
		v = min(v, fits)
	}
	switch {
	case v == refused || r.stopped:
		return at, min(v, undecided)
	case seen != nil && evaluated:
		seen.addMember(r, key)
	case seen != nil && doubtful:
		seen.doubtful = true
	}
	if end < 0 {
		end = r.skip(at)
	}
	return end, v
}

// rareObject judges what is said of an object as a whole.
func (r *run) rareObject(p *plan, start, count int, there presence, seen *evaluated) verdict {
	k := p.rare
	if there.bits&p.needed != p.needed || count < k.minMembers || k.maxMembers >= 0 && count > k.maxMembers || !r.hasAll(p, there, k.needed) {
		return refused
	}
	v := accepted
	for _, d := range k.dependents {
		r.spend(1)
		if !r.has(p, there, d.trigger) {
			continue
		}
		if !r.hasAll(p, there, d.needed) {
			return refused
		}
		if d.plan != nil {
			_, one := r.value(d.plan, start, seen)
			if v = min(v, one); v == refused || r.stopped {
				return v
			}
		}
	}
	if k.evaluatesMembers && !seen.allMembers {
		v = min(v, r.unevaluatedMembers(p, start, seen))
	}
	return v
}

func (r *run) hasAll(p *plan, there presence, indexes []int) bool {
	r.spend(len(indexes))
	for _, index := range indexes {
		if !r.has(p, there, index) {
			return false
		}
	}
	return true
}

func (r *run) unevaluatedMembers(p *plan, at int, seen *evaluated) verdict {
	v, root := accepted, r.withoutNulls && at == r.root
	for at = r.space(at + 1); r.text[at] != '}'; {
		key := at
		r.spend(workPart)
		_, colon := r.quoted(at)
		at = r.space(r.space(colon) + 1)
		end := r.skip(at)
		if !(root && r.text[at] == 'n') && !seen.members[key] {
			_, one := r.value(p.rare.unevaluatedMembers, at, nil)
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
	seen.allMembers = true
	return v
}
