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
)

const (
	// strangersSaveUp is how many seconds' worth of requests may come at once after a pause.
	strangersSaveUp = 4
	// knownFor is how long whoever was identified counts as known, and mostKnown how many do.
	knownFor  = 10 * time.Minute
	mostKnown = 100_000
)

// Strangers bounds what comes from one address of whoever is not signed in: pages without a sign-in, and keys and sessions that are none.
// Whoever was identified lately by the same key or session is let through, whatever else comes from their address; everybody is still
// identified. nil lets all through.
type Strangers struct {
	asked   *Throttle[netip.Addr]
	refuse  Refuse
	refused func() // counts
	now     func() time.Time

	mu    sync.Mutex
	known map[[sha256.Size]byte]time.Time // guarded by mu; until when
}

// NewStrangers makes a limit of so many requests a second for each address; 0: none. refused is told of each request that came too soon.
func NewStrangers(perSecond int, refuse Refuse, refused func(), now func() time.Time) *Strangers {
	if perSecond <= 0 {
		return nil
	}
	return &Strangers{
		asked: NewThrottle[netip.Addr](float64(perSecond), strangersSaveUp*perSecond), refuse: refuse, refused: refused, now: now,
		known: map[[sha256.Size]byte]time.Time{},
	}
}

// Guard stands inside the envelope, before anybody is looked up.
func (s *Strangers) Guard(next http.Handler) http.Handler {
	if s == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who, named := credentialOf(r)
		giveBack := func() {}
		if !named || !s.knows(who) {
			wait, undo := s.asked.Take(Network(middleware.GetClientIPAddr(r.Context())), s.now())
			if wait > 0 {
				s.refused()
				s.refuse(w, r, TooSoon(wait, "Too many requests came from this address without a sign-in. Try again in a moment."))
				return
			}
			giveBack = undo
		}
		next.ServeHTTP(w, r)
		n, ok := r.Context().Value(noteKey{}).(*note)
		if ok && named && n.attrs != nil {
			s.remember(who)
		}
		if ok && n.welcome {
			giveBack()
		}
	})
}

// Welcome says of a request that whoever made it has proven who they are, as a program does by what it hands in for a token: it counts for
// nothing against their address.
func Welcome(ctx context.Context) {
	if n, ok := ctx.Value(noteKey{}).(*note); ok {
		n.welcome = true
	}
}

// credentialOf is a hash of what a request says that it is by; named is false where it says nothing.
func credentialOf(r *http.Request) (who [sha256.Size]byte, named bool) {
	sum := sha256.New()
	for _, header := range []string{"Authorization", "Cookie"} {
		for _, value := range r.Header[header] {
			named = true
			_, _ = sum.Write([]byte(header + ":" + value + "\n"))
		}
	}
	sum.Sum(who[:0])
	return who, named
}

func (s *Strangers) knows(who [sha256.Size]byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now().Before(s.known[who])
}

func (s *Strangers) remember(who [sha256.Size]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	if len(s.known) >= mostKnown {
		for one, until := range s.known {
			if !now.Before(until) {
				delete(s.known, one)
			}
		}
	}
	if len(s.known) >= mostKnown {
		clear(s.known) // they are known again with their next request
	}
	s.known[who] = now.Add(knownFor)
}

// Network is who an address stands for: everybody has a /64 of IPv6.
func Network(from netip.Addr) netip.Addr {
	from = from.Unmap()
	if prefix, err := from.Prefix(64); from.Is6() && err == nil {
		return prefix.Addr()
	}
	return from
}

// TooSoon is the refusal of what came too soon: the sentence, and when to come again.
func TooSoon(wait time.Duration, sentence string, args ...any) *fault.Error {
	err := fault.Errorf(fault.RateLimited, sentence, args...)
	err.RetryAfter = int(math.Ceil(wait.Seconds()))
	return err
}
