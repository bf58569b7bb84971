package registry

import (
	"math"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
)

// A secret that a person chose can be guessed, and each comparison tells whether a guess is right. So many wrong ones are answered at once for
// a credential, in this process, and then one each quarter of a minute. Right ones do not count.
const (
	mostWrong  = 60
	wrongEach  = 15 * time.Second
	mostPlaces = 10_000
)

// guesses counts wrong comparisons, for each credential.
type guesses struct {
	mu     sync.Mutex
	places map[place]*rate.Limiter // guarded by mu
}

type place struct {
	connector connectors.ConnectorID
	agent     connectors.AgentID // zero: the shared credential
}

func newGuesses() *guesses { return &guesses{places: map[place]*rate.Limiter{}} }

// allowed tells whether one more comparison may be answered.
func (g *guesses) allowed(p place) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	m := g.places[p]
	if m == nil || m.Tokens() >= 1 {
		return nil
	}
	err := fault.Errorf(fault.RateLimited, "Too many other secrets were compared with this one. Wait as long as Retry-After says.")
	err.RetryAfter = int(math.Ceil((1 - m.Tokens()) * wrongEach.Seconds()))
	return err
}

// wrong counts one.
func (g *guesses) wrong(p place) {
	g.mu.Lock()
	defer g.mu.Unlock()
	m := g.places[p]
	if m == nil {
		for old, meter := range g.places {
			if len(g.places) < mostPlaces && meter.Tokens() < mostWrong {
				break
			}
			delete(g.places, old) // as if nobody had guessed; or any one, where there is no room
		}
		m = rate.NewLimiter(rate.Every(wrongEach), mostWrong)
		g.places[p] = m
	}
	m.Allow()
}
