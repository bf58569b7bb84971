package toolcall

import (
	"context"
	"fmt"
	"maps"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
)

// A limit is for all processes together, and no call waits for the database: each process tells the others once a second what was taken of
// each bucket, by a notice, and takes what it hears out of its own. Between two words a process gives its share of what it knows a bucket
// to hold. What all of them gave too much, since each word is late, is owed: the bucket goes below nothing. A word that is lost lets through
// what it told of.

const (
	tellUsesEvery = time.Second
	tellUsesTime  = 2 * time.Second
	// mostTold is how many buckets one notice tells of: PostgreSQL's may have 8000 bytes.
	mostTold = 120
)

// takings is how much was taken of a bucket, and whose it is.
type takings struct {
	tenant connectors.TenantID
	n      int
}

// share takes a drop of what this process may take before it has heard of the others, and notes it for them. mu is held.
func (l *limiter[K]) share(tenant connectors.TenantID, key K, b *bucket) (ok bool) {
	if b.round != l.round {
		b.round, b.share = l.round, math.Ceil(math.Floor(b.drops)/float64(1+l.others))
	}
	if b.share < 1 {
		return false
	}
	b.share--
	if l.taken == nil {
		l.taken = map[K]takings{}
	}
	l.taken[key] = takings{tenant, l.taken[key].n + 1}
	return true
}

// among says how many other processes there are.
func (l *limiter[K]) among(others int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.others = others
}

// told begins another round, and returns what was taken in the one before.
func (l *limiter[K]) told() map[K]takings {
	l.mu.Lock()
	defer l.mu.Unlock()
	taken := l.taken
	l.taken = nil
	l.round++
	return taken
}

// hear takes what another process has taken.
func (l *limiter[K]) hear(key K, n int, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.buckets[key]
	if b == nil {
		b = &bucket{at: now, heard: true}
		l.keep(key, b, now)
	}
	b.drops -= float64(n)
}

// tellUsesNowAndThen counts what was used of quotas, and tells the other processes what was taken, until the process stops.
func (c *Caller) tellUsesNowAndThen(recalled bool) {
	tick := time.NewTicker(tellUsesEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			recalled = recalled || c.recallQuotas(c.life)
			c.CountQuotas(c.life)
			c.TellUses(c.life)
		case <-c.life.Done():
			return
		}
	}
}

// TellUses tells the other processes what was taken of the limits since the last time.
func (c *Caller) TellUses(ctx context.Context) {
	said := map[connectors.TenantID][]string{}
	for id, t := range c.agents.told() {
		said[t.tenant] = append(said[t.tenant], use('a', id.UUID, t.n))
	}
	for id, t := range c.servers.told() {
		said[t.tenant] = append(said[t.tenant], use('c', id.UUID, t.n))
	}
	for name, t := range c.minutes.told() {
		said[t.tenant] = append(said[t.tenant], use('q', name, t.n))
	}
	for _, n := range c.days.tell() {
		said[n.tenant] = append(said[n.tenant], n.words())
	}
	ctx, cancel := context.WithTimeout(ctx, tellUsesTime)
	defer cancel()
	for tenant := range maps.Keys(said) {
		for uses := said[tenant]; len(uses) > 0; uses = uses[min(mostTold, len(uses)):] {
			words := c.o.Instance.String() + ";" + strings.Join(uses[:min(mostTold, len(uses))], ",")
			if c.o.Store.System().SayUses(ctx, tenant, words) != nil {
				return // the others are not the poorer for it
			}
		}
	}
}

// use says how much was taken of a bucket.
func use(kind byte, id uuid.UUID, n int) string { return fmt.Sprintf("%c%s=%d", kind, id, n) }

// hearUses takes what another process says that it has taken.
func (c *Caller) hearUses(words string) {
	from, uses, _ := strings.Cut(words, ";")
	if from == c.o.Instance.String() {
		return
	}
	now := c.o.Now()
	for one := range strings.SplitSeq(uses, ",") {
		name, number, _ := strings.Cut(one, "=")
		if len(name) < 2 {
			continue
		}
		id, err := uuid.Parse(name[1:])
		if err == nil && name[0] == 'd' {
			c.hearDay(id, number)
			continue
		}
		n, wrong := strconv.Atoi(number)
		switch {
		case err != nil, wrong != nil, n <= 0:
		case name[0] == 'a':
			c.agents.hear(connectors.AgentID{UUID: id}, n, now)
		case name[0] == 'c':
			c.servers.hear(connectors.ConnectorID{UUID: id}, n, now)
		case name[0] == 'q':
			c.minutes.hear(id, n, now)
		}
	}
}
