package connectors

import (
	"bytes"
	"encoding/json"

	"patchbay/internal/toolchange"
)

// OfInstructions stands where a change names its tool, in a change of the server's instructions.
const OfInstructions = ""

// Instructions are what a server says of itself to every model, and what agents are given.
type Instructions struct {
	Current  string // the server's, as of the last sync
	Accepted string // agents are given these
	Review   Review // accepted: they are the same; changed: the current ones wait for a person; rejected: one refused them
}

// Instructions are those of the connector's server.
func (c Connector) Instructions() Instructions {
	i := Instructions{Current: c.Server.Instructions, Accepted: c.Server.Instructions, Review: ReviewAccepted}
	if c.HeldBack != nil {
		i.Accepted, i.Review = c.HeldBack.Accepted, c.HeldBack.Review
	}
	return i
}

// HeldInstructions are given to agents in place of what the server says now.
type HeldInstructions struct {
	Accepted string
	Review   Review // changed, or rejected
}

// InstructionsDefinition is how instructions stand among the definitions of tools, where a change refers to them.
func InstructionsDefinition(text string) Definition {
	var raw bytes.Buffer
	enc := json.NewEncoder(&raw)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(struct { // a string can be encoded
		Instructions string `json:"instructions"`
	}{text})
	d := Definition{Name: OfInstructions, Raw: bytes.TrimSuffix(raw.Bytes(), []byte("\n"))}
	d.Hash = HashDefinition(d.Raw)
	return d
}

// InstructionsIn are the instructions of such a definition.
func InstructionsIn(raw []byte) string {
	var d struct{ Instructions string }
	_ = json.Unmarshal(raw, &d) // it is ours
	return d.Instructions
}

// InstructionsWrite is what a sync makes of instructions that the server changed.
type InstructionsWrite struct {
	Review      Review
	Accepted    string       // given to agents where they are held
	Definitions []Definition // that the change refers to
}

// instructions decides about the server's instructions. Those of a first sync are accepted, as its tools are.
func (c Comparison) instructions() (w *InstructionsWrite, change *ChangeWrite) {
	old := c.Instructions
	switch {
	case c.First || c.Says == old.Current: // what was decided stands
		return nil, nil
	case c.Says == old.Accepted: // the server went back
		return &InstructionsWrite{Review: ReviewAccepted}, nil
	}
	before, now := InstructionsDefinition(old.Accepted), InstructionsDefinition(c.Says)
	found := toolchange.Compare(before.Raw, now.Raw, c.Names)
	w = &InstructionsWrite{Review: ReviewAccepted, Definitions: []Definition{before, now}}
	change = &ChangeWrite{Tool: OfInstructions, Before: &before.Hash, After: &now.Hash, Kinds: found.Kinds, Risk: found.Risk, State: ChangeAutomatic}
	if old.Review == ReviewRejected || !c.Policy.accepts(found) { // no change brings back what a person refused
		w.Review, w.Accepted, change.State = ReviewChanged, old.Accepted, ChangeWaiting
	}
	return w, change
}

// newInstructions are those of which words are looked up; empty: there is nothing new.
func (c Comparison) newInstructions() string {
	if c.First || c.Says == c.Instructions.Current || c.Says == c.Instructions.Accepted {
		return ""
	}
	return c.Says
}
