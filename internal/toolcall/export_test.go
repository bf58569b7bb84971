package toolcall

import (
	"patchbay/internal/access"
	"patchbay/internal/connectors"
)

// NewCallID names a call.
func NewCallID() connectors.ToolCallID { return newCallID() }

// Crowd has n calls of an agent under way, and as many streams.
func (c *Caller) Crowd(agent connectors.AgentID, n int) (leave func()) {
	for range n {
		c.underWay.enter(agent, n)
		c.watching.enter(agent, n)
	}
	return func() {
		for range n {
			c.underWay.leave(agent)
			c.watching.leave(agent)
		}
	}
}

// SaveProgress writes how far calls are, as the process does each second.
func (c *Caller) SaveProgress() { c.saveProgress() }

// UnsavedProgress is of how many calls something is still to be written.
func (c *Caller) UnsavedProgress() int {
	c.progress.mu.Lock()
	defer c.progress.mu.Unlock()
	return len(c.progress.of)
}

// Paced tells whether a call comes too often.
func (c *Caller) Paced(v *access.View, t *access.Tool) error { return c.paced(v, t) }
