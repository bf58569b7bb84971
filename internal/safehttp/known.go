package safehttp

import (
	"net/url"
	"strings"
	"sync"
)

// mostKnown bounds how many places are remembered.
const mostKnown = 512

// known are places where requests may go, so that each request of many to one place need not ask why. A policy never changes, and says of a
// place what it said before.
type known struct {
	policy *Policy

	mu     sync.Mutex // guards what follows
	places map[place]struct{}
}

// place is all of a URL that a policy looks at, where it names no user.
type place struct{ scheme, host string }

// check is [Policy.check].
func (k *known) check(u *url.URL) error {
	if u.User != nil {
		return k.policy.check(u)
	}
	k.mu.Lock()
	_, ok := k.places[place{u.Scheme, u.Host}]
	k.mu.Unlock()
	if ok {
		return nil
	}
	if err := k.policy.check(u); err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.places == nil || len(k.places) >= mostKnown {
		k.places = map[place]struct{}{}
	}
	k.places[place{strings.Clone(u.Scheme), strings.Clone(u.Host)}] = struct{}{}
	return nil
}
