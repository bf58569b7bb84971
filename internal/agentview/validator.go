package agentview

import (
	"context"
)

// Bounds of one check, in units of work. A unit takes at most about a nanosecond: see BenchmarkHostileSchemas.
const (
	maxWork          = 20_000_000
	workNode         = 40      // to apply a plan to a value
	workChild        = 20      // a property or an item
	contextCheckWork = 100_000 // work between two checks of the context
	maxDepth         = 1_000   // nested plans
)

// validator checks one valid JSON text.
type validator struct {
	ctx       context.Context //nolint:containedctx // a run lasts as long as one call
	text      []byte
	budget    int // units of work
	work      int // units spent
	nextCheck int // work at which the context is checked again
	stopped   bool
	partial   bool // a part was not checked because of its cost
	depth     int

	ignoreNulls bool // null members of the outermost object count as absent
	root        int  // offset of the outermost value

	presenceBits []uint64 // of objects with more than 64 tracked properties
	scratch      []byte   // for unescaped strings
}

func newValidator(ctx context.Context, text []byte) validator {
	return validator{ctx: ctx, text: text, budget: maxWork, nextCheck: contextCheckWork}
}

// spendWork adds units and reports whether to go on. Afterwards every result is undecided.
func (r *validator) spendWork(units int) bool {
	r.work += units
	return r.work <= r.nextCheck || r.checkLimits()
}

// reserveWork is spendWork before the work is done; it stops the check if the budget is too small.
func (r *validator) reserveWork(units int) bool {
	if units > r.budget-r.work {
		r.stop()
		return false
	}
	return r.spendWork(units)
}

func (r *validator) stop() { r.stopped, r.partial, r.nextCheck = true, true, -1 }

func (r *validator) checkLimits() bool {
	if r.stopped || r.work > r.budget || r.ctx.Err() != nil {
		r.stop()
		return false
	}
	r.nextCheck = min(r.work+contextCheckWork, r.budget)
	return true
}

// validate checks the whole text.
func (r *validator) validate(p *plan) validity {
	r.root = r.skipSpace(0)
	_, v := r.validateValue(p, r.root, nil)
	if r.stopped {
		return undecided
	}
	return v
}

// validateValue checks the value at pos and returns its end, which is undefined if the value is invalid or the
// check stopped. evaluated may be nil.
func (r *validator) validateValue(p *plan, pos int, evaluated *evaluatedParts) (end int, v validity) {
	if p == nil {
		return r.skipValue(pos), valid
	}
	switch {
	case !r.spendWork(workNode):
		return pos, undecided
	case p.rejectsAll:
		return pos, invalid
	case r.depth == maxDepth:
		return r.skipValue(pos), undecided
	}
	r.depth++
	if evaluated == nil && (p.rare == nil || !p.rare.hasUnevaluatedItems && !p.rare.hasUnevaluatedProperties) {
		end, v = r.applyPlan(p, pos, nil)
	} else {
		end, v = r.applyCollecting(p, pos, evaluated)
	}
	r.depth--
	return end, v
}

func (r *validator) applyPlan(p *plan, pos int, evaluated *evaluatedParts) (end int, v validity) {
	kind := typeAt(r.text[pos])
	if !p.allowsType(kind) {
		return pos, invalid
	}
	if v = r.validateInPlace(p, pos, evaluated); v == invalid || r.stopped {
		return pos, v
	}
	if p.uncheckedTypes&kind != 0 {
		v = undecided
	}
	var own validity
	switch kind {
	case typeObject:
		end, own = r.validateObject(p, pos, evaluated)
	case typeArray:
		end, own = r.validateArray(p, pos, evaluated)
	case typeString:
		end, own = r.validateString(p, pos)
	case typeBool, typeNull:
		end, own = r.validateLiteral(p, pos)
	default:
		end, own = r.validateNumber(p, pos)
	}
	return end, min(v, own)
}

// typeAt returns the type of a value by its first byte. A number may be an integer.
func typeAt(c byte) typeSet {
	switch c {
	case '{':
		return typeObject
	case '[':
		return typeArray
	case '"':
		return typeString
	case 't', 'f':
		return typeBool
	case 'n':
		return typeNull
	default:
		return typeNumber | typeInteger
	}
}

// validateInPlace applies the subschemas that apply to the same value.
func (r *validator) validateInPlace(p *plan, pos int, evaluated *evaluatedParts) validity {
	v := valid
	for _, sub := range p.allOf {
		_, result := r.validateValue(sub, pos, evaluated)
		if v = min(v, result); v == invalid || r.stopped {
			return v
		}
	}
	if p.anyOf != nil {
		if v = min(v, r.validateAnyOf(p.anyOf, pos, evaluated)); v == invalid {
			return invalid
		}
	}
	if p.rare != nil {
		v = min(v, r.validateCombinators(p.rare, pos, evaluated))
	}
	return v
}

func (r *validator) validateAnyOf(plans []*plan, pos int, evaluated *evaluatedParts) validity {
	v := invalid
	for _, p := range plans {
		_, result := r.validateValue(p, pos, evaluated)
		if v = max(v, result); r.stopped || v == valid && evaluated == nil { // with evaluated, every branch counts
			break
		}
	}
	return v
}

func (r *validator) validateCombinators(p *rareKeywords, pos int, evaluated *evaluatedParts) validity {
	v := valid
	if p.constant != nil {
		v = min(v, r.validateEnum(p.constant, pos))
	}
	if p.oneOf != nil {
		v = min(v, r.validateOneOf(p.oneOf, pos, evaluated))
	}
	if p.hasNot && v != invalid {
		_, result := r.validateValue(p.not, pos, nil)
		v = min(v, valid-result)
	}
	if p.hasIf && v != invalid {
		v = min(v, r.validateIf(p, pos, evaluated))
	}
	return v
}

func (r *validator) validateOneOf(plans []*plan, pos int, evaluated *evaluatedParts) validity {
	fit, doubtful := 0, 0
	for _, p := range plans {
		switch _, result := r.validateValue(p, pos, evaluated); result {
		case valid:
			fit++
		case undecided:
			doubtful++
		}
		if r.stopped || fit > 1 {
			break
		}
	}
	switch {
	case fit > 1, fit+doubtful == 0:
		return invalid
	case doubtful > 0:
		return undecided
	}
	return valid
}

func (r *validator) validateIf(p *rareKeywords, pos int, evaluated *evaluatedParts) validity {
	_, met := r.validateValue(p.ifPlan, pos, evaluated)
	switch met {
	case valid:
		_, v := r.validateValue(p.thenPlan, pos, evaluated)
		return v
	case invalid:
		_, v := r.validateValue(p.elsePlan, pos, evaluated)
		return v
	}
	_, yes := r.validateValue(p.thenPlan, pos, nil)
	_, no := r.validateValue(p.elsePlan, pos, nil)
	if evaluated != nil {
		evaluated.isIncomplete = true
	}
	if yes == no {
		return yes
	}
	return undecided
}

func (r *validator) skipValue(pos int) (end int) {
	end = skipValue(r.text, pos)
	r.spendWork(end - pos)
	return end
}

func (r *validator) skipSpace(pos int) int {
	end := skipSpace(r.text, pos)
	r.work += end - pos
	return end
}

// skipValue returns the end of the value at pos of a valid JSON text.
func skipValue(text []byte, pos int) (end int) {
	depth := 0
	for end = pos; end < len(text); end++ {
		switch c := text[end]; c {
		case '"':
			for end++; text[end] != '"'; end++ {
				if text[end] == '\\' {
					end++
				}
			}
			if depth == 0 {
				return end + 1
			}
		case '{', '[':
			depth++
		case '}', ']', ',', ' ', '\t', '\n', '\r':
			switch {
			case depth == 0:
				return end // of a number or a literal
			case c == '}' || c == ']':
				if depth--; depth == 0 {
					return end + 1
				}
			}
		}
	}
	return end
}

func skipSpace(text []byte, pos int) int {
	for pos < len(text) && (text[pos] == ' ' || text[pos] == '\n' || text[pos] == '\t' || text[pos] == '\r') {
		pos++
	}
	return pos
}
