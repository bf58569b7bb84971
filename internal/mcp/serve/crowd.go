package serve

import "sync"

// crowd is who is being served in one way.
type crowd struct {
	mu      sync.Mutex // guards what follows
	closed  bool
	members map[*member]struct{}
	empty   chan struct{} // closed when nobody is there; nil: nobody waits for that
}

type member struct{ end func() }

// join takes a member, which must leave. false: the crowd has been ended.
func (c *crowd) join(end func()) (*member, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, false
	}
	if c.members == nil {
		c.members = map[*member]struct{}{}
	}
	m := &member{end}
	c.members[m] = struct{}{}
	return m, true
}

func (c *crowd) leave(m *member) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.members, m)
	if len(c.members) == 0 && c.empty != nil {
		close(c.empty)
		c.empty = nil
	}
}

// end calls every member to its end, and takes no new one.
func (c *crowd) end() {
	c.mu.Lock()
	c.closed = true
	ends := make([]func(), 0, len(c.members))
	for m := range c.members {
		ends = append(ends, m.end)
	}
	c.mu.Unlock()
	for _, end := range ends {
		end()
	}
}

// gone is closed once nobody is there.
func (c *crowd) gone() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.members) > 0 {
		if c.empty == nil {
			c.empty = make(chan struct{})
		}
		return c.empty
	}
	gone := make(chan struct{})
	close(gone)
	return gone
}
