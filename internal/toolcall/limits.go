package toolcall

import (
	"fmt"
	"sync"
	"time"

	"patchbay/internal/connectors"
)

// mostBuckets bounds a limiter's memory. Those that are full again are forgotten first.
const mostBuckets = 100_000

// limiter bounds how often something happens, for each key, in all processes that hear each other (rates.go). The zero value works, and is
// alone.
type limiter[K comparable] struct {
	mu      sync.Mutex
	buckets map[K]*bucket // guarded by mu

	others int           // other processes. Guarded by mu, as what follows.
	round  int           // how often what was taken was told
	taken  map[K]takings // since it was told; nothing where there are no others
}

// bucket is filled by so many drops a minute, and holds as many: after a pause all calls of a minute may come at once.
type bucket struct {
	drops float64 // below 0: others have taken them
	at    time.Time
	heard bool // others took of it before this process did; how much it holds is not known yet

	round int     // for which share counts
	share float64 // what this process may take in this round
}

// take takes a drop of key's bucket, or tells after how long there is one. perMinute 0: there is no limit.
func (l *limiter[K]) take(tenant connectors.TenantID, key K, perMinute int, now time.Time) (wait time.Duration) {
	if perMinute <= 0 {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.bucket(key, perMinute, now)
	each := time.Minute / time.Duration(perMinute)
	b.drops = min(float64(perMinute), b.drops+float64(now.Sub(b.at))/float64(each))
	b.at = now
	if b.drops < 1 {
		return time.Duration((1 - b.drops) * float64(each))
	}
	if l.others > 0 && !l.share(tenant, key, b) {
		return tellUsesEvery
	}
	b.drops--
	return 0
}

// left is how many drops key's bucket has.
func (l *limiter[K]) left(key K, perMinute int, now time.Time) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.buckets[key]
	if b == nil || perMinute == 0 {
		return perMinute
	}
	drops := b.drops + now.Sub(b.at).Minutes()*float64(perMinute)
	if b.heard {
		drops += float64(perMinute)
	}
	return int(max(0, min(float64(perMinute), drops)))
}

// bucket finds or makes one. mu is held.
func (l *limiter[K]) bucket(key K, perMinute int, now time.Time) *bucket {
	b := l.buckets[key]
	if b == nil {
		b = &bucket{drops: float64(perMinute), at: now}
		l.keep(key, b, now)
	}
	if b.heard {
		b.heard, b.drops = false, b.drops+float64(perMinute)
	}
	return b
}

// keep keeps a new bucket. mu is held.
func (l *limiter[K]) keep(key K, b *bucket, now time.Time) {
	b.round = l.round - 1
	if l.buckets == nil {
		l.buckets = map[K]*bucket{}
	}
	if len(l.buckets) >= mostBuckets {
		for k, b := range l.buckets {
			if now.Sub(b.at) > time.Minute {
				delete(l.buckets, k)
			}
		}
	}
	l.buckets[key] = b
}

// mostUnderWay bounds the calls of one agent that are under way in this process: each holds its arguments, its result, and a conversation
// with a server.
const mostUnderWay = 1000

// throng counts what is under way, for each key. The zero value works.
type throng[K comparable] struct {
	mu sync.Mutex
	of map[K]int // guarded by mu
}

// enter counts one more, if there are fewer than most. Each needs a leave.
func (t *throng[K]) enter(key K, most int) (ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.of[key] >= most {
		return false
	}
	if t.of == nil {
		t.of = map[K]int{}
	}
	t.of[key]++
	return true
}

func (t *throng[K]) leave(key K) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.of[key]--; t.of[key] == 0 {
		delete(t.of, key)
	}
}

func tooMany() *Refusal {
	return &Refusal{Code: CodeRateLimited, RetryAfter: time.Second, Sentence: fmt.Sprintf(
		"This agent has %d calls under way. Wait until some of them have ended.", mostUnderWay)}
}
