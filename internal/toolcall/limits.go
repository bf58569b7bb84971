package toolcall

import (
	"fmt"
	"sync"
	"time"
)

// mostBuckets bounds a limiter's memory. Those that are full again are forgotten first.
const mostBuckets = 100_000

// limiter bounds how often something happens, for each key, in this process. The zero value works.
type limiter[K comparable] struct {
	mu      sync.Mutex
	buckets map[K]*bucket // guarded by mu
}

// bucket is filled by so many drops a minute, and holds as many: after a pause all calls of a minute may come at once.
type bucket struct {
	drops float64
	at    time.Time
}

// take takes a drop of key's bucket, or tells after how long there is one. perMinute 0: there is no limit.
func (l *limiter[K]) take(key K, perMinute int, now time.Time) (wait time.Duration) {
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
	b.drops--
	return 0
}

// bucket finds or makes one. mu is held.
func (l *limiter[K]) bucket(key K, perMinute int, now time.Time) *bucket {
	if b := l.buckets[key]; b != nil {
		return b
	}
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
	b := &bucket{drops: float64(perMinute), at: now}
	l.buckets[key] = b
	return b
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
