package toolsync

import (
	"context"
	"log/slog"

	"patchbay/internal/connectors"
	"patchbay/internal/queue"
	"patchbay/internal/safe"
	"patchbay/internal/store"
)

const (
	// perClaim is how many connectors one statement claims.
	perClaim = 100
	// perTenant is how many of a tenant are under way at once, in all processes: one whose servers hang has no more of the places.
	perTenant = 256
)

// SyncDue begins the syncs of connectors that are due, in shards of the tenants, for as long as there are some, and room for them in
// this process. They go on when it returns: Drain waits for them. It says how many it began.
//
//  1. room: places are reserved first, so that no claim waits in memory while another process is idle; by turns, where shards do
//     not find room for all, and few at a time then
//  2. claim: up to a hundred connectors, fairly among tenants, with all that is needed, in one statement
//  3. seat: no more than perHost of a tenant talk with one server, and perHostOfAll of all; a few wait in its line, the others are given
//     back, and are due again later
//  4. talk: each by itself
//  5. end: what is unchanged is collected and written together (ends.go); what is not gets a run, as any other sync
func (s *Syncer) SyncDue(ctx context.Context, shards []int) (int, error) {
	ctx, cancel := s.untilEnding(ctx)
	defer cancel()
	began := 0
	for {
		room := s.places.reserve(ctx, perClaim)
		n, more, err := s.claimInto(ctx, room, shards)
		if began += n; !more || err != nil {
			return began, err
		}
	}
}

// SyncFew is SyncDue where little is due, of all shards: it claims once, for as many as there is room for at this moment. more: that may
// not have been all.
func (s *Syncer) SyncFew(ctx context.Context) (began int, more bool, err error) {
	ctx, cancel := s.untilEnding(ctx)
	defer cancel()
	room, _ := s.places.take(1, perClaim)
	if room == 0 {
		return 0, true, nil
	}
	return s.claimInto(ctx, room, allShards())
}

// untilEnding ends also when no sync may begin any more: what is claimed then would not.
func (s *Syncer) untilEnding(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	unbind := context.AfterFunc(s.heart.ending, cancel)
	return ctx, func() { unbind(); cancel() }
}

// claimInto fills reserved places with syncs that are due, and says how many it began. more: there may be others.
func (s *Syncer) claimInto(ctx context.Context, room int, shards []int) (began int, more bool, err error) {
	if room == 0 || ctx.Err() != nil {
		s.places.refund(room)
		return 0, false, nil //nolint:nilerr // what is claimed now would not begin
	}
	claims, err := s.claimWithin(ctx, shards, room)
	if err != nil {
		return 0, false, err
	}
	busy := s.launchAll(ctx, claims)
	s.giveBack(ctx, busy)
	return len(claims) - len(busy), len(claims) == room || len(busy) > 0, nil
}

// claimWithin claims for reserved places, and gives back those that it does not fill.
func (s *Syncer) claimWithin(ctx context.Context, shards []int, room int) (claims []store.Claim, err error) {
	defer func() { s.places.refund(room - len(claims)) }() // also where the claim panics
	return s.claim(ctx, shards, room)
}

func allShards() []int {
	shards := make([]int, queue.Count)
	for i := range shards {
		shards[i] = i
	}
	return shards
}

// launchAll begins the syncs of claims that have places, and returns those whose servers have no room, with when to come again.
func (s *Syncer) launchAll(ctx context.Context, claims []store.Claim) (busy []store.Ended) {
	for _, c := range claims {
		at, away := s.places.enter(server(c.Connector), c.Tenant, c.Connector.Timeout)
		if at == nil {
			busy = append(busy, store.Ended{Claim: c, Wait: away})
			continue
		}
		s.launch(ctx, c, at)
	}
	return busy
}

// launch syncs a claimed connector that has a stand at its server.
func (s *Syncer) launch(ctx context.Context, c store.Claim, at *stand) {
	ctx, end, err := s.begin(ctx)
	if err != nil { // the process stops, and its claims end with it
		at.quit()
		return
	}
	safe.Go(safe.Sync, func() {
		defer end()
		over := false
		defer func() {
			s.held.forget(c.Connector.ID)
			if !over { // it panicked, and its claim is free with the next beat
				s.held.doubtful()
			}
		}()
		s.syncClaimed(ctx, c, at)
		over = true
	})
}

// giveBack has connectors be due later, because their servers have no room. A claim that is not given back is forgotten, and found by
// the next beat.
func (s *Syncer) giveBack(ctx context.Context, busy []store.Ended) {
	if len(busy) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTime)
	defer cancel()
	err := s.store.System().ReleaseClaims(ctx, s.instance, busy)
	if err != nil {
		s.held.doubtful()
		s.log.WarnContext(ctx, "claims for busy servers not given back", slog.Any("error", err))
	}
	for _, e := range busy {
		s.held.forget(e.Claim.Connector.ID)
	}
}

// server names the server of a connector for the count of conversations with it. A program is counted by its own seats.
func server(c connectors.Connector) string {
	if c.Transport == connectors.TransportStdio {
		return c.ID.String()
	}
	return connectors.Origin(c.URL)
}
