package upstream

import (
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/credentials"
)

// maxStale bounds the use of a cached credential while notifications are not received.
const maxStale = time.Second

const maxCached = 100_000

// credentialCache holds resolved credentials until a notification invalidates them. A hit needs no statement.
// The pool's mu guards it.
type credentialCache struct {
	byKey      map[credentialKey]cachedCredential
	listening  bool   // notifications are received
	generation uint64 // number of invalidations
}

type cachedCredential struct {
	usable  *credentials.Credential
	version int // of the connector
	readAt  time.Time
}

// findCredential finds a fresh credential. On a miss, pass generation to cacheCredential.
func (p *Pool) findCredential(key credentialKey, w *SessionRequest) (u *credentials.Credential, generation uint64, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	cached, ok := p.cache.byKey[key]
	if !ok || cached.version != w.Connector.Version || !p.isFresh(cached) {
		return nil, p.cache.generation, false
	}
	return cached.usable, 0, true
}

// isFresh reports whether the credential may be used. A due token is resolved again once a second. The caller
// holds mu.
func (p *Pool) isFresh(cached cachedCredential) bool {
	due := cached.usable.Due
	if p.cache.listening && due.IsZero() {
		return true
	}
	now := p.o.Now()
	young := now.Sub(cached.readAt) < maxStale
	return young || p.cache.listening && now.Before(due)
}

// cacheCredential caches a credential, unless the cache was invalidated since the read.
func (p *Pool) cacheCredential(key credentialKey, w *SessionRequest, u *credentials.Credential, generation uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cache.generation != generation {
		return
	}
	if len(p.cache.byKey) >= maxCached {
		clear(p.cache.byKey)
	}
	p.cache.byKey[key] = cachedCredential{usable: u, version: w.Connector.Version, readAt: p.o.Now()}
}

// InvalidateCredentials invalidates the credentials of a connector.
func (p *Pool) InvalidateCredentials(t connectors.TenantID, id connectors.ConnectorID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cache.generation++
	for key := range p.cache.byKey {
		if key.tenant == t && key.connector == id {
			delete(p.cache.byKey, key)
		}
	}
}

// SetListening sets whether notifications are received, after which InvalidateCredentials is called. It clears the cache:
// notifications may have been lost.
func (p *Pool) SetListening(listening bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cache.listening = listening
	p.cache.generation++
	clear(p.cache.byKey)
}
