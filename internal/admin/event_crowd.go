package admin

import (
	"sync"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
)

// How many event streams are open at once: each holds a connection and asks the database every few seconds.
const (
	maxStreams       = 500 // in this process, unless Options say otherwise
	maxPersonStreams = 10  // of one person; each tab has one
)

// crowd counts the open event streams.
type crowd struct {
	most int

	mu     sync.Mutex
	all    int                       // guarded by mu
	people map[connectors.UserID]int // guarded by mu
}

func newCrowd(most int) *crowd {
	if most == 0 {
		most = maxStreams
	}
	return &crowd{most: most, people: map[connectors.UserID]int{}}
}

// enter lets one more stream of a person in, until leave is called. It is RateLimited where there are too many.
func (c *crowd) enter(who connectors.UserID) (leave func(), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all >= c.most || c.people[who] >= maxPersonStreams {
		f := fault.Errorf(fault.RateLimited, "Too many pages listen for news at once. Close some, or reload them to see what is new.")
		f.RetryAfter = int(keepAlive.Seconds())
		return nil, f
	}
	c.all++
	c.people[who]++
	return sync.OnceFunc(func() { c.leave(who) }), nil
}

func (c *crowd) leave(who connectors.UserID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all--
	if c.people[who]--; c.people[who] == 0 {
		delete(c.people, who)
	}
}
