package middleware

import (
	"context"
	"crypto/sha256"
	"math"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/go-chi/chi/v5/middleware"

	"patchbay/internal/fault"
	"patchbay/internal/limit"
)

const (
	// burstSeconds is the bucket capacity in seconds of the rate.
	burstSeconds = 4
	// knownTTL is how long an identified credential is exempt, and maxKnown how many are.
	knownTTL = 10 * time.Minute
	maxKnown = 100_000
)

// UnauthenticatedLimit limits the requests without a valid key or session per client network. Credentials that
// were identified recently are exempt, but still checked. nil limits nothing.
type UnauthenticatedLimit struct {
	limiter   *limit.Rate[netip.Addr]
	refuse    ErrorWriter
	onRefused func() // counts refusals
	now       func() time.Time
	always    func(path string) bool // nil: no path

	mu     sync.Mutex
	exempt map[[sha256.Size]byte]time.Time // guarded by mu; end of the exemption by credential hash
}

// NewUnauthenticatedLimit limits each network to perSecond requests; 0: returns nil. refused is called for each
// refused request.
func NewUnauthenticatedLimit(perSecond int, refuse ErrorWriter, refused func(), now func() time.Time) *UnauthenticatedLimit {
	if perSecond <= 0 {
		return nil
	}
	return &UnauthenticatedLimit{
		limiter: limit.NewRate[netip.Addr](float64(perSecond), burstSeconds*perSecond), refuse: refuse, onRefused: refused, now: now,
		exempt: map[[sha256.Size]byte]time.Time{},
	}
}

// LimitAlways makes the limit count requests for some paths whatever credential they carry: these read no caller.
func (l *UnauthenticatedLimit) LimitAlways(isPath func(path string) bool) {
	if l != nil {
		l.always = isPath
	}
}

// Middleware is the middleware. It belongs inside the envelope and before any look-up of a caller.
func (l *UnauthenticatedLimit) Middleware(next http.Handler) http.Handler {
	if l == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		credential, named := hashCredential(r)
		undoTake := func() {}
		if !named || l.always != nil && l.always(r.URL.Path) || !l.isKnown(credential) {
			wait, undo := l.limiter.Take(ClientNetwork(middleware.GetClientIPAddr(r.Context())), l.now())
			if wait > 0 {
				l.onRefused()
				l.refuse(w, r, NewRateLimitError(wait, "Too many unauthenticated requests from this address. Try again in a moment."))
				return
			}
			undoTake = undo
		}
		next.ServeHTTP(w, r)
		n, ok := r.Context().Value(logNoteKey{}).(*logAttrs)
		if ok && named && n.attrs != nil {
			l.markExempt(credential)
		}
		if ok && n.isAuthenticated {
			undoTake()
		}
	})
}

// MarkAuthenticated exempts a request that proved its caller in its body, such as a token request. The limit is
// refunded.
func MarkAuthenticated(ctx context.Context) {
	if n, ok := ctx.Value(logNoteKey{}).(*logAttrs); ok {
		n.isAuthenticated = true
	}
}

// hashCredential hashes the Authorization and Cookie fields; named is false if there are none.
func hashCredential(r *http.Request) (hash [sha256.Size]byte, named bool) {
	sum := sha256.New()
	for _, header := range []string{"Authorization", "Cookie"} {
		for _, value := range r.Header[header] {
			named = true
			_, _ = sum.Write([]byte(header + ":" + value + "\n"))
		}
	}
	sum.Sum(hash[:0])
	return hash, named
}

func (l *UnauthenticatedLimit) isKnown(credential [sha256.Size]byte) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.now().Before(l.exempt[credential])
}

func (l *UnauthenticatedLimit) markExempt(credential [sha256.Size]byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	if len(l.exempt) >= maxKnown {
		for key, until := range l.exempt {
			if !now.Before(until) {
				delete(l.exempt, key)
			}
		}
	}
	if len(l.exempt) >= maxKnown {
		clear(l.exempt) // each is known again after its next request
	}
	l.exempt[credential] = now.Add(knownTTL)
}

// ClientNetwork returns the network that counts as one client: an IPv4 address, or an IPv6 /64.
func ClientNetwork(addr netip.Addr) netip.Addr {
	addr = addr.Unmap()
	if prefix, err := addr.Prefix(64); addr.Is6() && err == nil {
		return prefix.Addr()
	}
	return addr
}

// NewRateLimitError returns a RateLimited fault with its RetryAfter.
func NewRateLimitError(wait time.Duration, sentence string, args ...any) *fault.Error {
	err := fault.Errorf(fault.RateLimited, sentence, args...)
	err.RetryAfter = int(math.Ceil(wait.Seconds()))
	return err
}
