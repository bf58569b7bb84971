package connectors

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"slices"
)

// ToolDiff is how a new tool list differs from what is remembered; it is what has to be written, and nothing more.
type ToolDiff struct {
	Added     []ToolWrite // not there before: new, or returned after a removal
	Changed   []ToolWrite // there before, with another definition
	Removed   []string    // names that the new list lacks
	Unchanged int
}

// ToolWrite is the new state of one tool.
type ToolWrite struct {
	Name     string
	Current  Hash
	Accepted *Hash // nil: nothing accepted yet
	Review   Review
	Returned bool // it was removed, and is there again
}

// Comparison is what [Diff] compares.
type Comparison struct {
	Old      []ToolState
	List     []Definition // of two with one name the first counts
	Policy   ToolChangePolicy
	First    bool            // the connector was never synced: its tools are accepted as they are
	Accepted map[Hash][]byte // the definitions that AcceptedNeeded names; a change against a missing one waits
}

// AcceptedNeeded names the definitions that the comparison has to see, because a changed tool is judged by what changed.
// Unchanged lists, and the other policies, need none.
func (c Comparison) AcceptedNeeded() []Hash {
	if c.First || c.Policy != ToolChangesHoldRisky {
		return nil
	}
	var needed []Hash
	old := c.states()
	for _, d := range c.List {
		s, known := old[d.Name]
		if known && s.Accepted != nil && d.Hash != s.Current && d.Hash != *s.Accepted {
			needed = append(needed, *s.Accepted)
		}
	}
	slices.SortFunc(needed, func(a, b Hash) int { return bytes.Compare(a[:], b[:]) })
	return slices.Compact(needed)
}

func (c Comparison) states() map[string]ToolState {
	m := make(map[string]ToolState, len(c.Old))
	for _, s := range c.Old {
		m[s.Name] = s
	}
	return m
}

// Diff compares a new list with what is remembered, and decides which definitions wait for a person. Its slices are sorted by
// name, whatever the order of the input.
func Diff(c Comparison) ToolDiff {
	var d ToolDiff
	old, there := c.states(), make(map[string]bool, len(c.List))
	for _, def := range c.List {
		if there[def.Name] {
			continue
		}
		there[def.Name] = true
		s, known := old[def.Name]
		switch {
		case !known:
			d.Added = append(d.Added, c.fresh(def))
		case s.Removed:
			w := c.change(s, def)
			w.Returned = true
			d.Added = append(d.Added, w)
		case s.Current != def.Hash:
			d.Changed = append(d.Changed, c.change(s, def))
		default:
			d.Unchanged++
		}
	}
	for _, s := range c.Old {
		if !s.Removed && !there[s.Name] {
			d.Removed = append(d.Removed, s.Name)
		}
	}
	byName := func(a, b ToolWrite) int { return cmp.Compare(a.Name, b.Name) }
	slices.SortFunc(d.Added, byName)
	slices.SortFunc(d.Changed, byName)
	slices.Sort(d.Removed)
	return d
}

// fresh decides a tool that was never seen.
func (c Comparison) fresh(def Definition) ToolWrite {
	if c.First || c.accepts(nil, def.Raw) {
		return accept(def)
	}
	return ToolWrite{Name: def.Name, Current: def.Hash, Review: ReviewNew}
}

// change decides a tool that is known, with this definition or another one.
func (c Comparison) change(s ToolState, def Definition) ToolWrite {
	switch {
	case s.Current == def.Hash: // returned as it was: what was decided stands
		return ToolWrite{Name: def.Name, Current: s.Current, Accepted: s.Accepted, Review: s.Review}
	case s.Accepted != nil && *s.Accepted == def.Hash: // it went back to what was accepted
		return accept(def)
	case s.Review == ReviewRejected: // no change brings a tool back that a person refused
		return wait(s, def)
	case s.Accepted == nil:
		return c.fresh(def)
	}
	before, seen := c.Accepted[*s.Accepted]
	if c.Policy == ToolChangesAuto || seen && c.accepts(before, def.Raw) {
		return accept(def)
	}
	return wait(s, def)
}

// wait leaves the decision to a person; what was accepted before is served meanwhile.
func wait(s ToolState, def Definition) ToolWrite {
	w := ToolWrite{Name: def.Name, Current: def.Hash, Accepted: s.Accepted, Review: ReviewChanged}
	if s.Accepted == nil {
		w.Review = ReviewNew
	}
	return w
}

// accepts tells whether the policy takes a definition without a person; before is the accepted one, nil for a new tool.
func (c Comparison) accepts(before, now []byte) bool {
	switch {
	case c.Policy == ToolChangesAuto:
		return true
	case c.Policy == ToolChangesHoldAll:
		return false
	case before == nil:
		return !riskyTool(now)
	default:
		return !riskyChange(before, now)
	}
}

func accept(def Definition) ToolWrite {
	hash := def.Hash
	return ToolWrite{Name: def.Name, Current: hash, Accepted: &hash, Review: ReviewAccepted}
}

// ListHash identifies a whole list, its quarantined entries included, in whatever order it came.
func ListHash(tools []Definition, quarantined []Quarantined) Hash {
	entries := make([][sha256.Size + 1]byte, 0, len(tools)+len(quarantined))
	add := func(kind byte, h Hash) {
		entry := [sha256.Size + 1]byte{kind}
		copy(entry[1:], h[:])
		entries = append(entries, entry)
	}
	for _, t := range tools {
		add('t', t.Hash)
	}
	for _, q := range quarantined {
		add('q', sha256.Sum256(append([]byte(q.Reason+"\x00"), q.Raw...)))
	}
	slices.SortFunc(entries, func(a, b [sha256.Size + 1]byte) int { return bytes.Compare(a[:], b[:]) })
	h := sha256.New()
	for _, e := range entries {
		h.Write(e[:])
	}
	return Hash(h.Sum(nil))
}
