package serve

import (
	"net/http"
	"sync"

	"patchbay/internal/mcp/revision"
)

// crowd is who is being served in one way.
type crowd struct {
	most int // of one caller; 0: any number

	mu      sync.Mutex // guards what follows
	closed  bool
	members map[*member]struct{}
	of      map[string]int // members of each caller, where there is a most
	empty   chan struct{}  // closed when nobody is there; nil: nobody waits for that
}

type member struct {
	who string
	end func()
}

// join takes a member, which must leave, unless the crowd has been ended, or has too many of the same caller.
func (c *crowd) join(who string, end func()) (*member, *RPCError) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
		return nil, errShut
	case c.most > 0 && c.of[who] >= c.most:
		return nil, errCrowded
	}
	if c.members == nil {
		c.members, c.of = map[*member]struct{}{}, map[string]int{}
	}
	m := &member{who, end}
	c.members[m] = struct{}{}
	if c.most > 0 {
		c.of[who]++
	}
	return m, nil
}

var errCrowded = refusal(http.StatusTooManyRequests, revision.CodeInternal, "Too many streams are open here already. Close some of them.")

func (c *crowd) leave(m *member) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.members, m)
	if c.of[m.who] > 1 {
		c.of[m.who]--
	} else {
		delete(c.of, m.who)
	}
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
