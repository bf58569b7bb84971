package connectors

import "github.com/google/uuid"

// Caller is the agent or the person that orders a call. The zero value is neither, such as an API key.
type Caller struct{ id uuid.UUID }

// CallerAgent is a program with the agent's own token.
func CallerAgent(id AgentID) Caller { return Caller{id.UUID} }

// CallerPerson is a signed-in person; nil: none.
func CallerPerson(id *UserID) Caller {
	if id == nil {
		return Caller{}
	}
	return Caller{id.UUID}
}

// StoredCaller is the Caller of a stored ID; nil: the zero value.
func StoredCaller(id *uuid.UUID) Caller {
	if id == nil {
		return Caller{}
	}
	return Caller{*id}
}

// ID returns what StoredCaller reads.
func (c Caller) ID() *uuid.UUID {
	if c.id == uuid.Nil {
		return nil
	}
	return &c.id
}

// IsAgent reports whether the agent orders the call.
func (c Caller) IsAgent(id AgentID) bool { return c.id != uuid.Nil && c.id == id.UUID }

// IsPerson reports whether the person orders the call.
func (c Caller) IsPerson(id UserID) bool { return c.id != uuid.Nil && c.id == id.UUID }
