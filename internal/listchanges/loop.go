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

// loop runs rounds until Stop, soon after a notice, else after Options.PollInterval.
func (m *Manager) loop() {
	for n := 0; ; n++ {
		if err := m.runRound(n); err != nil && m.lifetime.Err() == nil {
			m.o.Log.WarnContext(m.lifetime, "listening to servers is behind", slog.Any("error", err))
		}
		m.sleep(m.o.PollInterval / 8) // batches notices
		select {
		case <-m.wake:
		default:
			select {
			case <-m.lifetime.Done():
				return
			case <-m.wake:
			case <-time.After(withJitter(m.o.PollInterval)):
			}
		}
	}
}

// withJitter returns d ± 25 %, so that processes that started together do not query together.
func withJitter(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (0.75 + rand.Float64()/2))
}

func (m *Manager) sleep(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-m.lifetime.Done():
	case <-timer.C:
	}
}

func (m *Manager) runRound(n int) error {
	ctx, cancel := context.WithTimeout(m.lifetime, roundTimeout)
	defer cancel()
	changed, missed := m.takeChanged()
	missed = missed || n%reviewEvery == 0
	err := safe.Try(safe.Background, func() error { return m.reviewRows(ctx, changed, missed) })()
	if err != nil {
		m.restoreChanged(changed, missed)
	}
	if missed || n%checkEvery == 0 || m.ownsAny(changed) {
		err = errors.Join(err, m.checkStreams(ctx))
	}
	return errors.Join(err, m.claimStreams(ctx))
}

func (m *Manager) takeChanged() (changed map[store.OwnedConnector]bool, missed bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	changed, missed = m.changed, m.missedNotices
	m.changed, m.missedNotices = map[store.OwnedConnector]bool{}, false
	return changed, missed
}

func (m *Manager) restoreChanged(changed map[store.OwnedConnector]bool, missed bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.missedNotices = m.missedNotices || missed
	for owner, credentials := range changed {
		m.changed[owner] = m.changed[owner] || credentials
	}
}

func (m *Manager) ownsAny(changed map[store.OwnedConnector]bool) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for owner := range changed {
		if m.streams[owner] != nil {
			return true
		}
	}
	return false
}

// reviewRows updates the rows of changed connectors.
func (m *Manager) reviewRows(ctx context.Context, changed map[store.OwnedConnector]bool, missed bool) error {
	var settings, credentials []store.OwnedConnector
	for owner, credential := range changed {
		settings = append(settings, owner)
		if credential {
			credentials = append(credentials, owner)
		}
	}
	sys := m.o.Store.System()
	if missed {
		more, err := sys.Syncs().ListenersToReview(ctx, maxReviewed)
		if err != nil {
			return err
		}
		if settings = append(settings, more...); len(more) == maxReviewed {
			m.SetConnected(true) // more remain
		}
	}
	if len(credentials) > 0 {
		if err := sys.Syncs().WakeListeners(ctx, credentials...); err != nil {
			return err
		}
	}
	if len(settings) == 0 {
		return nil
	}
	return sys.Syncs().ReviewListeners(ctx, settings...)
}

// checkStreams ends streams that are stale or owned by another process, and releases rows without a stream
// here.
func (m *Manager) checkStreams(ctx context.Context) error {
	rows, err := m.o.Store.System().Syncs().OwnedStreams(ctx, m.o.Instance)
	if err != nil {
		return err
	}
	stale := make(map[store.OwnedConnector]bool, len(rows))
	for _, r := range rows {
		stale[store.OwnedConnector{Tenant: r.Tenant, ID: r.Connector}] = r.Stale
	}
	var lost []*serverStream
	for _, stream := range m.allStreams() {
		switch isStale, isOurs := stale[stream.owner]; {
		case !isOurs:
			lost = append(lost, stream)
		case isStale:
			stream.endWithKind(causeStale)
		}
		delete(stale, stream.owner)
	}
	err = m.reclaimStreams(ctx, lost)
	for owner := range stale {
		err = errors.Join(err, m.releaseStream(ctx, owner, retryEnd(0, connectors.ListenNoReason, 0)))
	}
	return err
}

// reclaimStreams keeps open streams with rows that were released because this process counted as dead, for
// example after a network partition. So a thousand servers need not be reconnected. Rows with another owner are
// lost.
func (m *Manager) reclaimStreams(ctx context.Context, lost []*serverStream) error {
	var open []store.OwnedConnector
	for _, stream := range lost {
		if stream.isOpen() {
			open = append(open, stream.owner)
		}
	}
	kept := map[store.OwnedConnector]bool{}
	if len(open) > 0 {
		rows, err := m.o.Store.System().Syncs().RetakeStreams(ctx, m.o.Instance, open...)
		if err != nil {
			return err // the next check retries
		}
		for _, owner := range rows {
			kept[owner] = true
		}
	}
	for _, stream := range lost {
		if !kept[stream.owner] {
			stream.endWithKind(causeLost)
		}
	}
	return nil
}

// openStreams returns the connectors with open streams here.
func (m *Manager) openStreams() (ids []connectors.ConnectorID) {
	for _, stream := range m.allStreams() {
		if stream.isOpen() {
			ids = append(ids, stream.owner.ID)
		}
	}
	return ids
}

func (m *Manager) allStreams() []*serverStream {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := make([]*serverStream, 0, len(m.streams))
	for _, stream := range m.streams {
		all = append(all, stream)
	}
	return all
}

// claimStreams claims streams without an owner, up to the limits of this process.
func (m *Manager) claimStreams(ctx context.Context) error {
	m.mu.Lock()
	limit := min(m.o.MaxStreams-len(m.streams), maxClaims)
	m.mu.Unlock()
	if limit <= 0 {
		return nil
	}
	claimed, err := m.o.Store.System().Syncs().ClaimStreams(ctx, m.o.Instance, limit, m.openStreams()...)
	if err != nil {
		return err
	}
	for _, c := range claimed {
		owner := store.OwnedConnector{Tenant: c.Tenant, ID: c.Connector}
		if end := m.startStream(owner, c); end != nil {
			err = errors.Join(err, m.releaseStream(ctx, owner, *end))
		}
	}
	if len(claimed) == limit {
		m.wakeLoop()
	}
	return err
}

// startStream starts a claimed stream, or returns how to release it.
func (m *Manager) startStream(owner store.OwnedConnector, c store.ClaimedStream) *store.StreamEnd {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.streams[owner] != nil || m.stopped: // the previous stream is ending
		end := retryEnd(0, c.Reason, c.Failures)
		return &end
	case m.tenants[owner.Tenant] >= m.o.MaxPerTenant:
		end := hostFullEnd()
		return &end
	}
	stream := newServerStream(m, owner, c)
	m.streams[owner] = stream
	m.tenants[owner.Tenant]++
	safe.GoIn(&m.background, safe.Upstream, stream.run)
	return nil
}

// releaseStream releases a stream to any process.
func (m *Manager) releaseStream(ctx context.Context, owner store.OwnedConnector, end store.StreamEnd) error {
	return m.o.Store.Tenant(owner.Tenant).Syncs().CloseStream(ctx, store.Stream{Connector: owner.ID, Instance: m.o.Instance}, end)
}
