package connectors

import (
	"bytes"
	"encoding/json"
)

// InstructionsTool is the tool name of a change of the server's instructions.
const InstructionsTool = ""

// Instructions are a server's instructions for models, current and accepted.
type Instructions struct {
	Current  string // as of the last sync
	Accepted string // given to agents
	Review   Review // accepted: both are equal; changed: the current ones wait for review; rejected: they were refused
}

// Instructions returns those of the connector's server.
func (c Connector) Instructions() Instructions {
	i := Instructions{Current: c.Server.Instructions, Accepted: c.Server.Instructions, Review: ReviewAccepted}
	if c.HeldBack != nil {
		i.Accepted, i.Review = c.HeldBack.Accepted, c.HeldBack.Review
	}
	return i
}

// HeldInstructions replace the server's current instructions for agents.
type HeldInstructions struct {
	Accepted string
	Review   Review
}

// InstructionsDefinition stores instructions as a definition, for a change to refer to.
func InstructionsDefinition(text string) Definition {
	var raw bytes.Buffer
	enc := json.NewEncoder(&raw)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(struct { // a string always encodes
		Instructions string `json:"instructions"`
	}{text})
	d := Definition{Name: InstructionsTool, Raw: bytes.TrimSuffix(raw.Bytes(), []byte("\n"))}
	d.Hash = HashDefinition(d.Raw)
	return d
}

// InstructionsIn returns the instructions of such a definition.
func InstructionsIn(raw []byte) string {
	var d struct{ Instructions string }
	_ = json.Unmarshal(raw, &d) // written by InstructionsDefinition
	return d.Instructions
}

// InstructionsWrite is the new state of changed instructions.
type InstructionsWrite struct {
	Review      Review
	Accepted    string       // for agents, where held
	Definitions []Definition // of the change
	Base        Instructions // the state that was compared
}

// decideInstructions decides the server's instructions. A first sync accepts them.
func (c Comparison) decideInstructions() (w *InstructionsWrite, change *ChangeWrite) {
	old := c.Instructions
	switch {
	case c.First || c.ServerInstructions == old.Current: // the decision stands
		return nil, nil
	case c.ServerInstructions == old.Accepted: // reverted
		return &InstructionsWrite{Review: ReviewAccepted, Base: old}, nil
	}
	before, now := InstructionsDefinition(old.Accepted), InstructionsDefinition(c.ServerInstructions)
	found := c.budget.Compare(before.Raw, now.Raw, c.Names)
	w = &InstructionsWrite{Review: ReviewAccepted, Definitions: []Definition{before, now}, Base: old}
	change = &ChangeWrite{Tool: InstructionsTool, Before: &before.Hash, After: &now.Hash, Kinds: found.Kinds, Risk: found.Risk, State: ChangeAutomatic}
	if old.Review == ReviewRejected || !c.Policy.allowsChange(found) { // a change does not restore refused instructions
		w.Review, w.Accepted, change.State = ReviewChanged, old.Accepted, ChangeWaiting
	}
	return w, change
}

// changedInstructions returns instructions whose words must be looked up; "": none.
func (c Comparison) changedInstructions() string {
	if c.First || c.ServerInstructions == c.Instructions.Current || c.ServerInstructions == c.Instructions.Accepted {
		return ""
	}
	return c.ServerInstructions
}
