package listchanges

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/safe"
	"patchbay/internal/store"
)

const (
	roundTimeout = 10 * time.Second // of one round, through database outages
	maxClaims    = 100              // streams claimed at once, so that processes that start together share them
	maxReviewed  = 1000             // connectors reviewed in one statement
	// A round without a notice claims only. Every checkEvery rounds also check the own streams, every
	// reviewEvery rounds look for missed changes.
	checkEvery  = 5
	reviewEvery = 150
)

// loop runs rounds until Stop, soon after a notice, else after Options.Round.
func (k *Keeper) loop() {
	for n := 0; ; n++ {
		if err := k.runRound(n); err != nil && k.lifetime.Err() == nil {
			k.o.Log.WarnContext(k.lifetime, "listening to servers is behind", slog.Any("error", err))
		}
		k.sleep(k.o.Round / 8) // batches notices
		select {
		case <-k.wake:
		default:
			select {
			case <-k.lifetime.Done():
				return
			case <-k.wake:
			case <-time.After(withJitter(k.o.Round)):
			}
		}
	}
}

// withJitter returns d ± 25 %, so that processes that started together do not query together.
func withJitter(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (0.75 + rand.Float64()/2))
}

func (k *Keeper) sleep(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-k.lifetime.Done():
	case <-timer.C:
	}
}

func (k *Keeper) runRound(n int) error {
	ctx, cancel := context.WithTimeout(k.lifetime, roundTimeout)
	defer cancel()
	changed, missed := k.takeChanged()
	missed = missed || n%reviewEvery == 0
	err := safe.Try(safe.Background, func() error { return k.reviewRows(ctx, changed, missed) })()
	if err != nil {
		k.restoreChanged(changed, missed)
	}
	if missed || n%checkEvery == 0 || k.holdsAny(changed) {
		err = errors.Join(err, k.checkStreams(ctx))
	}
	return errors.Join(err, k.claimStreams(ctx))
}

func (k *Keeper) takeChanged() (changed map[store.OwnedConnector]bool, missed bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	changed, missed = k.changed, k.missedNotices
	k.changed, k.missedNotices = map[store.OwnedConnector]bool{}, false
	return changed, missed
}

func (k *Keeper) restoreChanged(changed map[store.OwnedConnector]bool, missed bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.missedNotices = k.missedNotices || missed
	for owner, credentials := range changed {
		k.changed[owner] = k.changed[owner] || credentials
	}
}

func (k *Keeper) holdsAny(changed map[store.OwnedConnector]bool) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	for owner := range changed {
		if k.streams[owner] != nil {
			return true
		}
	}
	return false
}

// reviewRows updates the rows of changed connectors.
func (k *Keeper) reviewRows(ctx context.Context, changed map[store.OwnedConnector]bool, missed bool) error {
	var settings, credentials []store.OwnedConnector
	for owner, credential := range changed {
		settings = append(settings, owner)
		if credential {
			credentials = append(credentials, owner)
		}
	}
	sys := k.o.Store.System()
	if missed {
		more, err := sys.ListenersToReview(ctx, maxReviewed)
		if err != nil {
			return err
		}
		if settings = append(settings, more...); len(more) == maxReviewed {
			k.Connected(true) // more remain
		}
	}
	if len(credentials) > 0 {
		if err := sys.WakeListeners(ctx, credentials...); err != nil {
			return err
		}
	}
	if len(settings) == 0 {
		return nil
	}
	return sys.ReviewListeners(ctx, settings...)
}

// checkStreams ends streams that are stale or owned by another process, and releases rows without a stream
// here.
func (k *Keeper) checkStreams(ctx context.Context) error {
	rows, err := k.o.Store.System().HeldStreams(ctx, k.o.Instance)
	if err != nil {
		return err
	}
	stale := make(map[store.OwnedConnector]bool, len(rows))
	for _, r := range rows {
		stale[store.OwnedConnector{Tenant: r.Tenant, ID: r.Connector}] = r.Stale
	}
	var lost []*serverStream
	for _, stream := range k.allStreams() {
		switch isStale, isOurs := stale[stream.owner]; {
		case !isOurs:
			lost = append(lost, stream)
		case isStale:
			stream.endAs(endStale)
		}
		delete(stale, stream.owner)
	}
	err = k.retakeStreams(ctx, lost)
	for owner := range stale {
		err = errors.Join(err, k.releaseStream(ctx, owner, retryEnd(0, connectors.ListenNoReason, 0)))
	}
	return err
}

// retakeStreams keeps open streams with rows that were released because this process counted as dead, for
// example after a network partition. So a thousand servers need not be reconnected. Rows with another owner are
// lost.
func (k *Keeper) retakeStreams(ctx context.Context, lost []*serverStream) error {
	var open []store.OwnedConnector
	for _, stream := range lost {
		if stream.isOpen() {
			open = append(open, stream.owner)
		}
	}
	kept := map[store.OwnedConnector]bool{}
	if len(open) > 0 {
		rows, err := k.o.Store.System().RetakeStreams(ctx, k.o.Instance, open...)
		if err != nil {
			return err // the next check retries
		}
		for _, owner := range rows {
			kept[owner] = true
		}
	}
	for _, stream := range lost {
		if !kept[stream.owner] {
			stream.endAs(endLost)
		}
	}
	return nil
}

// openStreams returns the connectors with open streams here.
func (k *Keeper) openStreams() (ids []connectors.ConnectorID) {
	for _, stream := range k.allStreams() {
		if stream.isOpen() {
			ids = append(ids, stream.owner.ID)
		}
	}
	return ids
}

func (k *Keeper) allStreams() []*serverStream {
	k.mu.Lock()
	defer k.mu.Unlock()
	all := make([]*serverStream, 0, len(k.streams))
	for _, stream := range k.streams {
		all = append(all, stream)
	}
	return all
}

// claimStreams claims streams without an owner, up to the limits of this process.
func (k *Keeper) claimStreams(ctx context.Context) error {
	k.mu.Lock()
	limit := min(k.o.MaxStreams-len(k.streams), maxClaims)
	k.mu.Unlock()
	if limit <= 0 {
		return nil
	}
	claimed, err := k.o.Store.System().ClaimStreams(ctx, k.o.Instance, limit, k.openStreams()...)
	if err != nil {
		return err
	}
	for _, c := range claimed {
		owner := store.OwnedConnector{Tenant: c.Tenant, ID: c.Connector}
		if end := k.startStream(owner, c); end != nil {
			err = errors.Join(err, k.releaseStream(ctx, owner, *end))
		}
	}
	if len(claimed) == limit {
		k.wakeLoop()
	}
	return err
}

// startStream starts a claimed stream, or returns how to release it.
func (k *Keeper) startStream(owner store.OwnedConnector, c store.ClaimedStream) *store.StreamEnd {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case k.streams[owner] != nil || k.stopped: // the previous stream is ending
		end := retryEnd(0, c.Reason, c.Failures)
		return &end
	case k.tenants[owner.Tenant] >= k.o.MaxPerTenant:
		end := hostFullEnd()
		return &end
	}
	stream := newServerStream(k, owner, c)
	k.streams[owner] = stream
	k.tenants[owner.Tenant]++
	safe.GoIn(&k.background, safe.Upstream, stream.run)
	return nil
}

// releaseStream releases a stream to any process.
func (k *Keeper) releaseStream(ctx context.Context, owner store.OwnedConnector, end store.StreamEnd) error {
	return k.o.Store.Tenant(owner.Tenant).CloseStream(ctx, store.Stream{Connector: owner.ID, Instance: k.o.Instance}, end)
}
