package access

import (
	"context"
)

// Bounds of one check, in units of work. A unit takes about a nanosecond at worst: see BenchmarkHostileSchemas.
const (
	maxWork  = 20_000_000
	workNode = 40      // a plan that is applied to a value
	workPart = 20      // a member or an item
	workLook = 100_000 // after how much the context is looked at
	maxDepth = 1_000   // plans that are open at once
)

// run is one check of a valid JSON text.
type run struct {
	ctx     context.Context //nolint:containedctx // a run lasts as long as one call
	text    []byte
	budget  int // units of work
	work    int // units that were spent
	next    int // where the context is looked at again
	stopped bool
	partial bool // something was not judged, since it would have been too much work
	depth   int

	withoutNulls bool // members of the outermost object that are null count as absent
	root         int  // where the outermost value stands

	bits    []uint64 // presence of members, of objects with many that matter
	scratch []byte   // for texts without their escapes
}

func newRun(ctx context.Context, text []byte) run {
	return run{ctx: ctx, text: text, budget: maxWork, next: workLook}
}

// spend counts work, and reports whether the run goes on. Once it does not, every verdict is undecided.
func (r *run) spend(units int) bool {
	r.work += units
	return r.work <= r.next || r.goOn()
}

// afford spends work that is still to be done, and reports whether there is enough left for it.
func (r *run) afford(units int) bool {
	if units > r.budget-r.work {
		r.stop()
		return false
	}
	return r.spend(units)
}

func (r *run) stop() { r.stopped, r.partial, r.next = true, true, -1 }

func (r *run) goOn() bool {
	if r.stopped || r.work > r.budget || r.ctx.Err() != nil {
		r.stop()
		return false
	}
	r.next = min(r.work+workLook, r.budget)
	return true
}

// judge is the verdict on the whole text.
func (r *run) judge(p *plan) verdict {
	r.root = r.space(0)
	_, v := r.value(p, r.root, nil)
	if r.stopped {
		return undecided
	}
	return v
}

// value judges the value at a place, and returns where it ends. The end is of no use where the value is refused or the run stopped.
// seen collects what was evaluated; nil: it does not matter.
func (r *run) value(p *plan, at int, seen *evaluated) (end int, v verdict) {
	if p == nil {
		return r.skip(at), accepted
	}
	switch {
	case !r.spend(workNode):
		return at, undecided
	case p.never:
		return at, refused
	case r.depth == maxDepth:
		return r.skip(at), undecided
	}
	r.depth++
	if seen == nil && (p.rare == nil || !p.rare.evaluatesItems && !p.rare.evaluatesMembers) {
		end, v = r.apply(p, at, nil)
	} else {
		end, v = r.evaluate(p, at, seen)
	}
	r.depth--
	return end, v
}

// apply judges a value by all keywords of a plan.
func (r *run) apply(p *plan, at int, seen *evaluated) (end int, v verdict) {
	kind := kindAt(r.text[at])
	if !p.takes(kind) {
		return at, refused
	}
	if v = r.combined(p, at, seen); v == refused || r.stopped {
		return at, v
	}
	if p.unjudged&kind != 0 {
		v = undecided
	}
	var own verdict
	switch kind {
	case isObject:
		end, own = r.object(p, at, seen)
	case isArray:
		end, own = r.array(p, at, seen)
	case isString:
		end, own = r.string(p, at)
	case isBool, isNull:
		end, own = r.word(p, at)
	default:
		end, own = r.number(p, at)
	}
	return end, min(v, own)
}

// kindAt is the kind of value that begins with a byte. A number may be an integer.
func kindAt(c byte) kindSet {
	switch c {
	case '{':
		return isObject
	case '[':
		return isArray
	case '"':
		return isString
	case 't', 'f':
		return isBool
	case 'n':
		return isNull
	default:
		return isNumber | isInteger
	}
}

// combined judges a value by the plans that apply to it in place.
func (r *run) combined(p *plan, at int, seen *evaluated) verdict {
	v := accepted
	for _, sub := range p.all {
		_, one := r.value(sub, at, seen)
		if v = min(v, one); v == refused || r.stopped {
			return v
		}
	}
	if p.anyOf != nil {
		if v = min(v, r.anyOf(p.anyOf, at, seen)); v == refused {
			return refused
		}
	}
	if p.rare != nil {
		v = min(v, r.rareCombined(p.rare, at, seen))
	}
	return v
}

func (r *run) anyOf(plans []*plan, at int, seen *evaluated) verdict {
	v := refused
	for _, p := range plans {
		_, one := r.value(p, at, seen)
		if v = max(v, one); r.stopped || v == accepted && seen == nil { // else all are to be seen
			break
		}
	}
	return v
}

func (r *run) rareCombined(p *rare, at int, seen *evaluated) verdict {
	v := accepted
	if p.constant != nil {
		v = min(v, r.oneOfValues(p.constant, at))
	}
	if p.oneOf != nil {
		v = min(v, r.oneOf(p.oneOf, at, seen))
	}
	if p.negates && v != refused {
		_, one := r.value(p.not, at, nil)
		v = min(v, accepted-one)
	}
	if p.conditional && v != refused {
		v = min(v, r.conditional(p, at, seen))
	}
	return v
}

func (r *run) oneOf(plans []*plan, at int, seen *evaluated) verdict {
	fit, doubtful := 0, 0
	for _, p := range plans {
		switch _, one := r.value(p, at, seen); one {
		case accepted:
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
		return refused
	case doubtful > 0:
		return undecided
	}
	return accepted
}

func (r *run) conditional(p *rare, at int, seen *evaluated) verdict {
	_, met := r.value(p.condition, at, seen)
	switch met {
	case accepted:
		_, v := r.value(p.then, at, seen)
		return v
	case refused:
		_, v := r.value(p.otherwise, at, seen)
		return v
	}
	_, yes := r.value(p.then, at, nil)
	_, no := r.value(p.otherwise, at, nil)
	if seen != nil {
		seen.doubtful = true
	}
	if yes == no {
		return yes
	}
	return undecided
}

// skip passes a value, whatever it is.
func (r *run) skip(at int) (end int) {
	end = skipValue(r.text, at)
	r.spend(end - at)
	return end
}

func (r *run) space(at int) int {
	end := skipSpace(r.text, at)
	r.work += end - at
	return end
}

// skipValue returns where a value of a valid JSON text ends.
func skipValue(text []byte, at int) (end int) {
	depth := 0
	for end = at; end < len(text); end++ {
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
				return end // of a number or a word
			case c == '}' || c == ']':
				if depth--; depth == 0 {
					return end + 1
				}
			}
		}
	}
	return end
}

func skipSpace(text []byte, at int) int {
	for at < len(text) && (text[at] == ' ' || text[at] == '\n' || text[at] == '\t' || text[at] == '\r') {
		at++
	}
	return at
}
