package connectors

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"slices"

	"patchbay/internal/toolchange"
)

// ToolDiff is how a new tool list differs from what is remembered; it is what has to be written, and nothing more.
type ToolDiff struct {
	Added     []ToolWrite   // not there before: new, or returned after a removal
	Changed   []ToolWrite   // there before, with another definition
	Removed   []string      // names that the new list lacks
	Changes   []ChangeWrite // what goes on record, by name; nothing of a first sync, and of a definition that came back
	Unchanged int

	Instructions *InstructionsWrite // nil: they are as they were
}

// ToolWrite is the new state of one tool.
type ToolWrite struct {
	Name     string
	Current  Hash
	Accepted *Hash // nil: nothing accepted yet
	Review   Review
	Returned bool // it was removed, and is there again

	change *toolchange.Change // nil: its definition is one that was decided about
}

// Comparison is what [Diff] compares.
type Comparison struct {
	Old      []ToolState
	List     []Definition // of two with one name the first counts
	Policy   ToolChangePolicy
	First    bool              // the connector was never synced: its tools are accepted as they are
	Accepted map[Hash][]byte   // the definitions that AcceptedNeeded names; a change against a missing one waits
	Names    *toolchange.Names // the tools of other connectors that NamesNeeded asks for; nil: there are none

	Instructions Instructions // as they are remembered
	Says         string       // the server's instructions now
}

// AcceptedNeeded names the definitions that the comparison has to see, because a changed tool is judged by what changed.
// Unchanged lists need none.
func (c Comparison) AcceptedNeeded() []Hash {
	if c.First {
		return nil
	}
	var needed []Hash
	old := c.states()
	for _, d := range c.List {
		s, known := old[d.Name]
		if known && s.Accepted != nil && (d.Hash != s.Current || s.Removed) && d.Hash != *s.Accepted {
			needed = append(needed, *s.Accepted)
		}
	}
	slices.SortFunc(needed, func(a, b Hash) int { return bytes.Compare(a[:], b[:]) })
	return slices.Compact(needed)
}

// NamesNeeded are the words of new and changed definitions that may name a tool of another connector, and the names of new tools, which
// may be like those. Accepted has to be there already.
func (c Comparison) NamesNeeded() (words, fresh []string) {
	if c.First {
		return nil, nil
	}
	old := c.states()
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
	if says := c.newInstructions(); says != "" {
		words = append(words, toolchange.Mentions([]byte(c.Instructions.Accepted), []byte(says))...)
	}
	slices.Sort(words)
	return slices.Compact(words), fresh
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
	d.Changes = c.record(d, old)
	var change *ChangeWrite
	if d.Instructions, change = c.instructions(); change != nil {
		d.Changes = slices.Insert(d.Changes, 0, *change)
	}
	return d
}

// record is what goes on record of a difference. A first sync is no change.
func (c Comparison) record(d ToolDiff, old map[string]ToolState) []ChangeWrite {
	if c.First {
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

// fresh decides a tool that nobody has accepted yet.
func (c Comparison) fresh(def Definition) ToolWrite {
	if c.First {
		return accept(def)
	}
	change := toolchange.Compare(nil, def.Raw, c.Names)
	w := ToolWrite{Name: def.Name, Current: def.Hash, Review: ReviewNew}
	if c.Policy.accepts(change) {
		w = accept(def)
	}
	w.change = &change
	return w
}

// change decides a tool that is known, with this definition or another one.
func (c Comparison) change(s ToolState, def Definition) ToolWrite {
	switch {
	case s.Current == def.Hash: // returned as it was: what was decided stands
		w := ToolWrite{Name: def.Name, Current: s.Current, Accepted: s.Accepted, Review: s.Review}
		if s.Review == ReviewChanged || s.Review == ReviewNew {
			w.change = c.judge(s, def) // it waits again
		}
		return w
	case s.Accepted != nil && *s.Accepted == def.Hash: // it went back to what was accepted
		return accept(def)
	case s.Review == ReviewRejected: // no change brings a tool back that a person refused
		return c.wait(s, def)
	case s.Accepted == nil:
		return c.fresh(def)
	}
	change := c.judge(s, def)
	if !c.Policy.accepts(*change) {
		return c.wait(s, def)
	}
	w := accept(def)
	w.change = change
	return w
}

// judge compares a definition with the one that is served. Where that one is not at hand, nothing can be told.
func (c Comparison) judge(s ToolState, def Definition) *toolchange.Change {
	var before []byte
	if s.Accepted != nil {
		if before = c.Accepted[*s.Accepted]; before == nil {
			return &toolchange.Change{Kinds: []toolchange.Kind{toolchange.Other}, Risk: toolchange.High}
		}
	}
	change := toolchange.Compare(before, def.Raw, c.Names)
	return &change
}

// wait leaves the decision to a person; what was accepted before is served meanwhile.
func (c Comparison) wait(s ToolState, def Definition) ToolWrite {
	w := ToolWrite{Name: def.Name, Current: def.Hash, Accepted: s.Accepted, Review: ReviewChanged, change: c.judge(s, def)}
	if s.Accepted == nil {
		w.Review = ReviewNew
	}
	return w
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
