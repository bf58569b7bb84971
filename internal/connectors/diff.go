package connectors

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"slices"

	"patchbay/internal/toolchange"
)

// ToolDiff is the difference between a new tool list and the stored one: exactly what must be written.
type ToolDiff struct {
	Added     []ToolWrite   // new, or returned after a removal
	Changed   []ToolWrite   // with another definition
	Removed   []string      // missing from the new list
	Changes   []ChangeWrite // to record, by name; none for a first sync or a reverted definition
	Unchanged int

	Instructions *InstructionsWrite // nil: unchanged
	Policy       ToolChangePolicy   // by which it was decided; empty: it was not compared
}

// ToolWrite is the new state of one tool.
type ToolWrite struct {
	Name     string
	Current  Hash
	Accepted *Hash // nil: nothing accepted yet
	Review   Review
	Returned bool       // it was removed before
	Base     *ToolState // the state that was compared; nil: the tool was not known

	change *toolchange.Change // nil: already decided
}

// Comparison is the input of [Diff].
type Comparison struct {
	Old      []ToolState
	List     []Definition // the first of a repeated name counts
	Policy   ToolChangePolicy
	First    bool              // never synced: tools are accepted, except with a foreign server
	Accepted map[Hash][]byte   // for AcceptedNeeded; a change against a missing one waits
	Names    *toolchange.Names // tools of other connectors for NamesNeeded; nil: none
	Origins  []string          // known origins of an HTTP API, besides the accepted tools' origins; a new tool elsewhere is risky; empty: any origin is known
	Done     <-chan struct{}   // closed: the remaining changes count as too large to be compared; nil: never

	Instructions       Instructions // as stored
	ServerInstructions string       // the server's current ones

	budget *toolchange.Budget // of all comparisons
}

// AcceptedNeeded returns the accepted definitions that the comparison needs to classify changes. An unchanged
// list needs none.
func (c Comparison) AcceptedNeeded() []Hash {
	if c.First {
		return nil
	}
	var needed []Hash
	old := c.statesByName()
	for _, d := range c.List {
		s, known := old[d.Name]
		if known && s.Accepted != nil && (d.Hash != s.Current || s.Removed) && d.Hash != *s.Accepted {
			needed = append(needed, *s.Accepted)
		}
	}
	needed = append(needed, c.originsNeeded(old)...)
	slices.SortFunc(needed, func(a, b Hash) int { return bytes.Compare(a[:], b[:]) })
	return slices.Compact(needed)
}

// NamesNeeded returns words of new and changed definitions that may name another connector's tool, and new
// tools' names, which may resemble one. It needs Accepted.
func (c Comparison) NamesNeeded() (words, fresh []string) {
	if c.First {
		return nil, nil
	}
	old := c.statesByName()
	for _, d := range c.List {
		s, known := old[d.Name]
		switch {
		case !known || s.Accepted == nil && s.Current != d.Hash:
			words = append(words, toolchange.Mentions(nil, d.Raw)...)
			fresh = append(fresh, d.Name)
		case s.Accepted != nil && d.Hash != s.Current && d.Hash != *s.Accepted:
			words = append(words, toolchange.Mentions(c.Accepted[*s.Accepted], d.Raw)...)
		}
	}
	if says := c.changedInstructions(); says != "" {
		words = append(words, toolchange.Mentions(InstructionsDefinition(c.Instructions.Accepted).Raw, InstructionsDefinition(says).Raw)...)
	}
	slices.Sort(words)
	return slices.Compact(words), fresh
}

func (c Comparison) statesByName() map[string]ToolState {
	m := make(map[string]ToolState, len(c.Old))
	for _, s := range c.Old {
		m[s.Name] = s
	}
	return m
}

// Diff compares a new list with the stored one and decides which definitions wait for review. Its slices are
// sorted by name.
func Diff(c Comparison) ToolDiff {
	c.budget = toolchange.NewBudget(c.Done)
	c.budget.IsForeign = c.findForeign()
	d := ToolDiff{Policy: c.Policy}
	old, there := c.statesByName(), make(map[string]bool, len(c.List))
	for _, def := range c.List {
		if there[def.Name] {
			continue
		}
		there[def.Name] = true
		s, known := old[def.Name]
		switch {
		case !known:
			d.Added = append(d.Added, c.decideNew(def))
		case s.Removed:
			w := c.decideKnown(s, def)
			w.Base, w.Returned = &s, true
			d.Added = append(d.Added, w)
		case s.Current != def.Hash:
			w := c.decideKnown(s, def)
			w.Base = &s
			d.Changed = append(d.Changed, w)
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
	d.Changes = c.recordChanges(d, old)
	var change *ChangeWrite
	if d.Instructions, change = c.decideInstructions(); change != nil {
		d.Changes = slices.Insert(d.Changes, 0, *change)
	}
	return d
}

// recordChanges returns the changes to record. A first sync has only changes of tools with a foreign server.
func (c Comparison) recordChanges(d ToolDiff, old map[string]ToolState) []ChangeWrite {
	if c.First && len(c.Origins) == 0 {
		return nil
	}
	var changes []ChangeWrite
	for _, w := range slices.Concat(d.Added, d.Changed) {
		if w.change == nil {
			continue
		}
		change := ChangeWrite{Tool: w.Name, Before: old[w.Name].Accepted, After: &w.Current, Kinds: w.change.Kinds, Risk: w.change.Risk, State: ChangeAutomatic}
		if w.Review != ReviewAccepted {
			change.State = ChangeWaiting
		}
		changes = append(changes, change)
	}
	for _, name := range d.Removed {
		last := old[name].Current
		changes = append(changes, ChangeWrite{Tool: name, Before: &last, Kinds: []toolchange.Kind{toolchange.Removed}, Risk: toolchange.None, State: ChangeAutomatic})
	}
	slices.SortStableFunc(changes, func(a, b ChangeWrite) int { return cmp.Compare(a.Tool, b.Tool) })
	return changes
}

func (c Comparison) decideNew(def Definition) ToolWrite {
	if c.First && !c.isForeign(def) {
		return acceptDefinition(def)
	}
	change := c.budget.Compare(nil, def.Raw, c.Names)
	w := ToolWrite{Name: def.Name, Current: def.Hash, Review: ReviewNew}
	if c.Policy.allowsChange(change) {
		w = acceptDefinition(def)
	}
	w.change = &change
	return w
}

func (c Comparison) decideKnown(s ToolState, def Definition) ToolWrite {
	switch {
	case s.Current == def.Hash: // returned unchanged: the decision stands
		w := ToolWrite{Name: def.Name, Current: s.Current, Accepted: s.Accepted, Review: s.Review}
		if s.Review == ReviewChanged || s.Review == ReviewNew {
			w.change = c.classifyChange(s, def) // it waits again
		}
		return w
	case s.Accepted != nil && *s.Accepted == def.Hash: // reverted to the accepted one
		return acceptDefinition(def)
	case s.Review == ReviewRejected, s.Review == ReviewKept: // a person decided against an earlier change
		return awaitReview(s, def, c.classifyChange(s, def))
	case s.Accepted == nil:
		return c.decideNew(def)
	}
	change := c.classifyChange(s, def)
	if !c.Policy.allowsChange(*change) {
		return awaitReview(s, def, change)
	}
	w := acceptDefinition(def)
	w.change = change
	return w
}

// classifyChange compares a definition with the served one; nil: that one is not loaded.
func (c Comparison) classifyChange(s ToolState, def Definition) *toolchange.Change {
	var before []byte
	if s.Accepted != nil {
		if before = c.Accepted[*s.Accepted]; before == nil {
			return &toolchange.Change{Kinds: []toolchange.Kind{toolchange.Other}, Risk: toolchange.High}
		}
	}
	change := c.budget.Compare(before, def.Raw, c.Names)
	return &change
}

// awaitReview leaves the decision to a person; the accepted definition stays served.
func awaitReview(s ToolState, def Definition, change *toolchange.Change) ToolWrite {
	w := ToolWrite{Name: def.Name, Current: def.Hash, Accepted: s.Accepted, Review: ReviewChanged, change: change}
	if s.Accepted == nil {
		w.Review = ReviewNew
	}
	return w
}

func acceptDefinition(def Definition) ToolWrite {
	hash := def.Hash
	return ToolWrite{Name: def.Name, Current: hash, Accepted: &hash, Review: ReviewAccepted}
}

// ListHash identifies a list with its quarantined entries, in any order.
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
