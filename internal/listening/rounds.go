package listening

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
	roundTime = 10 * time.Second // for one round; the database may be away
	perRound  = 100              // streams that are claimed at once, so that processes which start together share
	mostMoved = 1000             // connectors that are looked at in one statement
	// A round without a notice looks only at what is due. Each few of them also looks for what nobody heard of.
	checkEach  = 5
	reviewEach = 150
)

// rounds looks again and again at what there is to do: soon after a notice, else after Options.Round.
func (k *Keeper) rounds() {
	for n := 0; ; n++ {
		if err := k.round(n); err != nil && k.life.Err() == nil {
			k.o.Log.WarnContext(k.life, "listening to servers is behind", slog.Any("error", err))
		}
		k.pause(k.o.Round / 8) // many notices make one round
		select {
		case <-k.wake:
		default:
			select {
			case <-k.life.Done():
				return
			case <-k.wake:
			case <-time.After(spread(k.o.Round)):
			}
		}
	}
}

// spread is about d, so that processes that started together do not ask together.
func spread(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (0.75 + rand.Float64()/2))
}

func (k *Keeper) pause(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-k.life.Done():
	case <-timer.C:
	}
}

func (k *Keeper) round(n int) error {
	ctx, cancel := context.WithTimeout(k.life, roundTime)
	defer cancel()
	moved, behind := k.takeMoved()
	behind = behind || n%reviewEach == 0
	err := k.review(ctx, moved, behind)
	if err != nil {
		k.giveBack(moved, behind)
	}
	if behind || n%checkEach == 0 || k.holdsAny(moved) {
		err = errors.Join(err, k.check(ctx))
	}
	return errors.Join(err, k.claim(ctx))
}

func (k *Keeper) takeMoved() (moved map[store.OwnedConnector]bool, behind bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	moved, behind = k.moved, k.behind
	k.moved, k.behind = map[store.OwnedConnector]bool{}, false
	return moved, behind
}

func (k *Keeper) giveBack(moved map[store.OwnedConnector]bool, behind bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.behind = k.behind || behind
	for at, keys := range moved {
		k.moved[at] = k.moved[at] || keys
	}
}

func (k *Keeper) holdsAny(moved map[store.OwnedConnector]bool) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	for at := range moved {
		if k.held[at] != nil {
			return true
		}
	}
	return false
}

// review has the rows of connectors that have moved be what they should be.
func (k *Keeper) review(ctx context.Context, moved map[store.OwnedConnector]bool, behind bool) error {
	var settings, keys []store.OwnedConnector
	for at, credential := range moved {
		settings = append(settings, at)
		if credential {
			keys = append(keys, at)
		}
	}
	sys := k.o.Store.System()
	if behind {
		more, err := sys.ListenersToReview(ctx, mostMoved)
		if err != nil {
			return err
		}
		if settings = append(settings, more...); len(more) == mostMoved {
			k.Connected(true) // there are more of them
		}
	}
	if len(keys) > 0 {
		if err := sys.WakeListeners(ctx, keys...); err != nil {
			return err
		}
	}
	if len(settings) == 0 {
		return nil
	}
	return sys.ReviewListeners(ctx, settings...)
}

// check ends the streams that are not ours any more, or not what they should be, and frees those that are ours by mistake.
func (k *Keeper) check(ctx context.Context) error {
	rows, err := k.o.Store.System().HeldStreams(ctx, k.o.Instance)
	if err != nil {
		return err
	}
	stale := make(map[store.OwnedConnector]bool, len(rows))
	for _, r := range rows {
		stale[store.OwnedConnector{Tenant: r.Tenant, ID: r.Connector}] = r.Stale
	}
	var lost []*hold
	for _, h := range k.holds() {
		switch old, ours := stale[h.at]; {
		case !ours:
			lost = append(lost, h)
		case old:
			h.end(endStale)
		}
		delete(stale, h.at)
	}
	err = k.retake(ctx, lost)
	for at := range stale {
		err = errors.Join(err, k.free(ctx, at, again(0, connectors.ListenNoReason, 0)))
	}
	return err
}

// retake keeps the open streams of rows that are free because this process was taken for dead, as when it alone could not reach the
// database for a while: a thousand servers need not be asked anew. The others are somebody else's by now.
func (k *Keeper) retake(ctx context.Context, lost []*hold) error {
	var open []store.OwnedConnector
	for _, h := range lost {
		if h.isOpen() {
			open = append(open, h.at)
		}
	}
	kept := map[store.OwnedConnector]bool{}
	if len(open) > 0 {
		rows, err := k.o.Store.System().RetakeStreams(ctx, k.o.Instance, open...)
		if err != nil {
			return err // the next check tries again
		}
		for _, at := range rows {
			kept[at] = true
		}
	}
	for _, h := range lost {
		if !kept[h.at] {
			h.end(endLost)
		}
	}
	return nil
}

// open are the connectors whose streams are open here.
func (k *Keeper) open() (ids []connectors.ConnectorID) {
	for _, h := range k.holds() {
		if h.isOpen() {
			ids = append(ids, h.at.ID)
		}
	}
	return ids
}

func (k *Keeper) holds() []*hold {
	k.mu.Lock()
	defer k.mu.Unlock()
	all := make([]*hold, 0, len(k.held))
	for _, h := range k.held {
		all = append(all, h)
	}
	return all
}

// claim takes streams that nobody holds, as many as there is room for.
func (k *Keeper) claim(ctx context.Context) error {
	k.mu.Lock()
	room := min(k.o.Most-len(k.held), perRound)
	k.mu.Unlock()
	if room <= 0 {
		return nil
	}
	claimed, err := k.o.Store.System().ClaimStreams(ctx, k.o.Instance, room, k.open()...)
	if err != nil {
		return err
	}
	for _, c := range claimed {
		at := store.OwnedConnector{Tenant: c.Tenant, ID: c.Connector}
		if end := k.begin(at, c); end != nil {
			err = errors.Join(err, k.free(ctx, at, *end))
		}
	}
	if len(claimed) == room {
		k.nudge()
	}
	return err
}

// begin holds a stream from now on, or tells how to leave it.
func (k *Keeper) begin(at store.OwnedConnector, c store.ClaimedStream) *store.StreamEnd {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case k.held[at] != nil || k.stopped: // the one before is about to be forgotten
		end := again(0, c.Reason, c.Failures)
		return &end
	case k.tenants[at.Tenant] >= k.o.PerTenant:
		end := crowded()
		return &end
	}
	h := newHold(k, at, c)
	k.held[at] = h
	k.tenants[at.Tenant]++
	safe.GoIn(&k.crew, safe.Upstream, h.run)
	return nil
}

// free leaves a stream to whoever comes.
func (k *Keeper) free(ctx context.Context, at store.OwnedConnector, end store.StreamEnd) error {
	return k.o.Store.Tenant(at.Tenant).CloseStream(ctx, store.Stream{Connector: at.ID, Instance: k.o.Instance}, end)
}
