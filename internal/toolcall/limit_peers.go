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

// A limit spans all processes, without waiting for the database. Each process publishes once a second what it
// took from each bucket, and subtracts what others published. In between it takes at most its share of the
// known tokens. Updates are late, so a bucket may go below zero. A lost notification lets through the calls
// that it reported.

const (
	usePublishInterval = time.Second
	usePublishTimeout  = 2 * time.Second
	// maxUsesPerNotice keeps a notification below PostgreSQL's 8000 bytes.
	maxUsesPerNotice = 120
)

// tokenUse is the number of tokens that a tenant's calls took.
type tokenUse struct {
	tenant connectors.TenantID
	n      int
}

// takeReserved takes a token of this process's share of the round. The caller holds mu.
func (l *limiter[K]) takeReserved(tenant connectors.TenantID, key K, b *bucket) (ok bool) {
	if b.round != l.round {
		b.round, b.share = l.round, math.Ceil(math.Floor(b.tokens)/float64(1+l.otherInstances))
	}
	if b.share < 1 {
		return false
	}
	b.share--
	if l.taken == nil {
		l.taken = map[K]tokenUse{}
	}
	l.taken[key] = tokenUse{tenant, l.taken[key].n + 1}
	return true
}

func (l *limiter[K]) setPeers(peers int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.otherInstances = peers
}

// startInterval starts a round, and returns the tokens taken in the last one.
func (l *limiter[K]) startInterval() map[K]tokenUse {
	l.mu.Lock()
	defer l.mu.Unlock()
	taken := l.taken
	l.taken = nil
	l.round++
	return taken
}

// applyRemote subtracts the tokens that another process took.
func (l *limiter[K]) applyRemote(key K, n int, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.buckets[key]
	if b == nil {
		b = &bucket{updatedAt: now, remoteOnly: true}
		l.addBucket(key, b, now)
	}
	b.tokens -= float64(n)
}

// exchangeUses stores quota counts and publishes token uses, in a loop.
func (l *callLimits) exchangeUses(ctx context.Context) {
	l.loaded = l.loaded || l.loadQuotas(ctx)
	l.countQuotas(ctx)
	l.publishUses(ctx)
}

// PublishUses publishes the uses of limits since the last call.
func (c *Executor) PublishUses(ctx context.Context) { c.limits.publishUses(ctx) }

func (l *callLimits) publishUses(ctx context.Context) {
	byTenant := map[connectors.TenantID][]string{}
	for id, t := range l.agentRates.startInterval() {
		byTenant[t.tenant] = append(byTenant[t.tenant], formatUse('a', id.UUID, t.n))
	}
	for id, t := range l.connectorRates.startInterval() {
		byTenant[t.tenant] = append(byTenant[t.tenant], formatUse('c', id.UUID, t.n))
	}
	for name, t := range l.minuteQuotas.startInterval() {
		byTenant[t.tenant] = append(byTenant[t.tenant], formatUse('q', name, t.n))
	}
	for _, n := range l.dayQuotas.drainUpdates() {
		byTenant[n.tenant] = append(byTenant[n.tenant], n.formatUpdate())
	}
	ctx, cancel := context.WithTimeout(ctx, usePublishTimeout)
	defer cancel()
	for tenant := range maps.Keys(byTenant) {
		for uses := byTenant[tenant]; len(uses) > 0; uses = uses[min(maxUsesPerNotice, len(uses)):] {
			notice := l.o.Instance.String() + ";" + strings.Join(uses[:min(maxUsesPerNotice, len(uses))], ",")
			if l.o.Store.System().Calls().PublishUses(ctx, tenant, notice) != nil {
				return // an unpublished use only makes the limit laxer
			}
		}
	}
}

func formatUse(kind byte, id uuid.UUID, n int) string { return fmt.Sprintf("%c%s=%d", kind, id, n) }

// handleUses applies the uses that another process published.
func (l *callLimits) handleUses(notice string) {
	sender, uses, _ := strings.Cut(notice, ";")
	if sender == l.o.Instance.String() {
		return
	}
	now := l.o.Now()
	for use := range strings.SplitSeq(uses, ",") {
		name, number, _ := strings.Cut(use, "=")
		if len(name) < 2 {
			continue
		}
		id, err := uuid.Parse(name[1:])
		if err == nil && name[0] == 'd' {
			l.handleDayUse(id, number)
			continue
		}
		n, countErr := strconv.Atoi(number)
		switch {
		case err != nil, countErr != nil, n <= 0:
		case name[0] == 'a':
			l.agentRates.applyRemote(connectors.AgentID{UUID: id}, n, now)
		case name[0] == 'c':
			l.connectorRates.applyRemote(connectors.ConnectorID{UUID: id}, n, now)
		case name[0] == 'q':
			l.minuteQuotas.applyRemote(id, n, now)
		}
	}
}
