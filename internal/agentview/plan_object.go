package agentview

func (r *validator) validateObject(p *plan, pos int, evaluated *evaluatedParts) (end int, v validity) {
	v = valid
	if p.enum != nil {
		if v = r.validateEnum(p.enum, pos); v == invalid {
			return pos, invalid
		}
	}
	start, count, present := pos, 0, presentProperties{}
	if p.trackedCount > 64 {
		present.wordOffset = len(r.presenceBits)
		r.presenceBits = append(r.presenceBits, make([]uint64, p.trackedCount/64+1)...)
		defer func() { r.presenceBits = r.presenceBits[:present.wordOffset] }()
		r.spendWork(p.trackedCount)
	}
	outermost := r.ignoreNulls && pos == r.root
	for pos = r.skipSpace(pos + 1); r.text[pos] != '}'; {
		name, colon := r.readString(pos)
		key := pos
		pos = r.skipSpace(r.skipSpace(colon) + 1)
		if outermost && r.text[pos] == 'n' {
			pos = r.skipValue(pos)
		} else {
			count++
			m := r.findProperty(p, name)
			if m.index > 0 {
				r.markPresent(p, &present, m.index)
			}
			var result validity
			if pos, result = r.validateProperty(p, m, key, pos, evaluated); result == invalid {
				return pos, invalid
			}
			v = min(v, result)
		}
		if !r.spendWork(workChild) {
			return pos, undecided
		}
		if pos = r.skipSpace(pos); r.text[pos] == ',' {
			pos = r.skipSpace(pos + 1)
		}
	}
	if p.rare != nil {
		return pos + 1, min(v, r.validateWholeObject(p, start, count, present, evaluated))
	}
	if present.bits != p.requiredBits {
		return pos, invalid
	}
	return pos + 1, v
}

// validateProperty checks the value at pos of the property with its name at key.
func (r *validator) validateProperty(p *plan, m propertyPlan, key, pos int, evaluated *evaluatedParts) (end int, v validity) {
	if p.rare != nil {
		return r.validateRareProperty(p, m, key, pos, evaluated)
	}
	sub := m.plan
	if !m.inProperties {
		sub = p.additionalProperties
	}
	end, v = r.validateValue(sub, pos, nil)
	if evaluated != nil && (m.inProperties || p.additionalProperties != nil) {
		evaluated.addProperty(r, key)
	}
	return end, v
}

// presentProperties is the set of tracked properties that an object has.
type presentProperties struct {
	bits       uint64
	wordOffset int // in validator.presenceBits, for plans that track more than 64
}

func (r *validator) markPresent(p *plan, present *presentProperties, index int) {
	if p.trackedCount > 64 {
		r.presenceBits[present.wordOffset+index/64] |= 1 << (index % 64)
		return
	}
	present.bits |= 1 << (index - 1)
}

func (r *validator) isPresent(p *plan, present presentProperties, index int) bool {
	if p.trackedCount > 64 {
		return r.presenceBits[present.wordOffset+index/64]&(1<<(index%64)) != 0
	}
	return present.bits&(1<<(index-1)) != 0
}

// findProperty returns the zero propertyPlan for an unknown name.
func (r *validator) findProperty(p *plan, name jsonString) propertyPlan {
	if name.isUnescaped {
		return p.properties[string(name.raw)]
	}
	if len(name.raw) > len(`\u0000`)*p.maxNameBytes {
		return propertyPlan{}
	}
	return p.properties[string(r.unescapeString(name))]
}

// validateRareProperty also applies patternProperties and propertyNames.
func (r *validator) validateRareProperty(p *plan, m propertyPlan, key, pos int, evaluated *evaluatedParts) (end int, v validity) {
	end, v = -1, valid
	isEvaluated, isDoubtful := m.inProperties, false
	if m.inProperties {
		if end, v = r.validateValue(m.plan, pos, nil); v == invalid {
			return pos, invalid
		}
	}
	for _, rule := range p.rare.patternProperties {
		name, _ := r.readString(key)
		match := r.matchPattern(rule.pattern, name)
		if match == invalid {
			continue
		}
		_, fits := r.validateValue(rule.plan, pos, nil)
		if match == valid {
			v, isEvaluated = min(v, fits), true
		} else {
			v, isDoubtful = min(v, max(fits, undecided)), true
		}
		if v == invalid || r.stopped {
			return pos, min(v, undecided)
		}
	}
	if !isEvaluated && p.rare.hasAdditionalProperties {
		var fits validity
		if end, fits = r.validateValue(p.additionalProperties, pos, nil); fits == invalid && isDoubtful {
			end, fits = -1, undecided
		}
		v, isEvaluated, isDoubtful = min(v, fits), true, false
	}
	if p.rare.propertyNames != nil && v != invalid {
		_, fits := r.validateValue(p.rare.propertyNames, key, nil)
		v = min(v, fits)
	}
	switch {
	case v == invalid || r.stopped:
		return pos, min(v, undecided)
	case evaluated != nil && isEvaluated:
		evaluated.addProperty(r, key)
	case evaluated != nil && isDoubtful:
		evaluated.isIncomplete = true
	}
	if end < 0 {
		end = r.skipValue(pos)
	}
	return end, v
}

// validateWholeObject checks the keywords that need all properties.
func (r *validator) validateWholeObject(p *plan, start, count int, present presentProperties, evaluated *evaluatedParts) validity {
	k := p.rare
	if present.bits&p.requiredBits != p.requiredBits || count < k.minProperties || k.maxProperties >= 0 && count > k.maxProperties || !r.areAllPresent(p, present, k.requiredIndexes) {
		return invalid
	}
	v := valid
	for _, d := range k.dependents {
		r.spendWork(1)
		if !r.isPresent(p, present, d.trigger) {
			continue
		}
		if !r.areAllPresent(p, present, d.required) {
			return invalid
		}
		if d.plan != nil {
			_, result := r.validateValue(d.plan, start, evaluated)
			if v = min(v, result); v == invalid || r.stopped {
				return v
			}
		}
	}
	if k.hasUnevaluatedProperties && !evaluated.allProperties {
		v = min(v, r.validateUnevaluatedProperties(p, start, evaluated))
	}
	return v
}

func (r *validator) areAllPresent(p *plan, present presentProperties, indexes []int) bool {
	r.spendWork(len(indexes))
	for _, index := range indexes {
		if !r.isPresent(p, present, index) {
			return false
		}
	}
	return true
}

func (r *validator) validateUnevaluatedProperties(p *plan, pos int, evaluated *evaluatedParts) validity {
	v, root := valid, r.ignoreNulls && pos == r.root
	for pos = r.skipSpace(pos + 1); r.text[pos] != '}'; {
		key := pos
		r.spendWork(workChild)
		_, colon := r.readString(pos)
		pos = r.skipSpace(r.skipSpace(colon) + 1)
		end := r.skipValue(pos)
		if !(root && r.text[pos] == 'n') && !evaluated.properties[key] {
			_, result := r.validateValue(p.rare.unevaluatedProperties, pos, nil)
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
	evaluated.allProperties = true
	return v
}
