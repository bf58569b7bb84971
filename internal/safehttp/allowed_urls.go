package safehttp

import (
	"net/url"
	"strings"
	"sync"
)

// maxKnown bounds the cached origins.
const maxKnown = 512

// allowedURLs caches the origins that the policy allows. A policy never changes, so entries never expire.
type allowedURLs struct {
	policy *Policy

	mu      sync.Mutex // guards the fields below
	origins map[urlOrigin]struct{}
}

// urlOrigin is the part of a URL that a policy checks, apart from userinfo.
type urlOrigin struct{ scheme, host string }

// checkURL is Policy.checkURL with a cache.
func (k *allowedURLs) checkURL(u *url.URL) error {
	if u.User != nil {
		return k.policy.checkURL(u)
	}
	k.mu.Lock()
	_, ok := k.origins[urlOrigin{u.Scheme, u.Host}]
	k.mu.Unlock()
	if ok {
		return nil
	}
	if err := k.policy.checkURL(u); err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.origins == nil || len(k.origins) >= maxKnown {
		k.origins = map[urlOrigin]struct{}{}
	}
	k.origins[urlOrigin{strings.Clone(u.Scheme), strings.Clone(u.Host)}] = struct{}{}
	return nil
}
