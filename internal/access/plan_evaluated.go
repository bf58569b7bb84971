package access

// evaluated are the parts of a value that unevaluatedItems and unevaluatedProperties pass over.
type evaluated struct {
	allItems   bool
	end        int          // items before it
	items      map[int]bool // by position in the array
	allMembers bool
	members    map[int]bool // by the place of their name
	doubtful   bool         // there may be more
}

// Bounds of what one run notes.
const (
	workNote = 200
	maxNotes = 50_000 // of one value
)

// evaluate is apply with what is evaluated.
func (r *run) evaluate(p *plan, at int, outer *evaluated) (end int, v verdict) {
	var own evaluated
	end, v = r.apply(p, at, &own)
	if outer == nil {
		return end, v
	}
	switch v {
	case accepted:
		outer.merge(r, own)
	case undecided:
		outer.doubtful = true
	}
	return end, v
}

func (e *evaluated) addItem(r *run, n int) {
	if e.items == nil {
		e.items = map[int]bool{}
	}
	e.add(r, e.items, n)
}

func (e *evaluated) addMember(r *run, key int) {
	if e.members == nil {
		e.members = map[int]bool{}
	}
	e.add(r, e.members, key)
}

func (e *evaluated) add(r *run, to map[int]bool, at int) {
	if r.spend(workNote); len(to) == maxNotes {
		e.doubtful = true
		return
	}
	to[at] = true
}

func (e *evaluated) merge(r *run, other evaluated) {
	e.allItems = e.allItems || other.allItems
	e.allMembers = e.allMembers || other.allMembers
	e.doubtful = e.doubtful || other.doubtful
	e.end = max(e.end, other.end)
	for n := range other.items {
		e.addItem(r, n)
	}
	for key := range other.members {
		e.addMember(r, key)
	}
}
