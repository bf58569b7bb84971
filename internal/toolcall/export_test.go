package toolcall

import "patchbay/internal/connectors"

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
