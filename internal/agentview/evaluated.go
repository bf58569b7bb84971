package agentview

// evaluatedParts are the items and properties that unevaluatedItems and unevaluatedProperties skip.
type evaluatedParts struct {
	allItems      bool
	itemCount     int          // all items before it
	items         map[int]bool // by index
	allProperties bool
	properties    map[int]bool // by the offset of their names
	isIncomplete  bool         // more parts may be evaluated
}

// Bounds of recording.
const (
	workRecord  = 200
	maxRecorded = 50_000 // of one value
)

// applyCollecting is applyPlan that collects evaluated parts.
func (r *validator) applyCollecting(p *plan, pos int, outer *evaluatedParts) (end int, v validity) {
	var own evaluatedParts
	end, v = r.applyPlan(p, pos, &own)
	if outer == nil {
		return end, v
	}
	switch v {
	case valid:
		outer.mergeParts(r, own)
	case undecided:
		outer.isIncomplete = true
	}
	return end, v
}

func (e *evaluatedParts) addItem(r *validator, n int) {
	if e.items == nil {
		e.items = map[int]bool{}
	}
	e.recordPart(r, e.items, n)
}

func (e *evaluatedParts) addProperty(r *validator, key int) {
	if e.properties == nil {
		e.properties = map[int]bool{}
	}
	e.recordPart(r, e.properties, key)
}

func (e *evaluatedParts) recordPart(r *validator, to map[int]bool, pos int) {
	if r.spendWork(workRecord); len(to) == maxRecorded {
		e.isIncomplete = true
		return
	}
	to[pos] = true
}

func (e *evaluatedParts) mergeParts(r *validator, other evaluatedParts) {
	e.allItems = e.allItems || other.allItems
	e.allProperties = e.allProperties || other.allProperties
	e.isIncomplete = e.isIncomplete || other.isIncomplete
	e.itemCount = max(e.itemCount, other.itemCount)
	for n := range other.items {
		e.addItem(r, n)
	}
	for key := range other.properties {
		e.addProperty(r, key)
	}
}
