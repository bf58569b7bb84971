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
	// claimBatch is the maximum number of connectors that one statement claims.
	claimBatch = 100
	// maxPerTenant bounds the active scheduled syncs of one tenant in all processes, so that hung servers of
	// one tenant leave slots to others.
	maxPerTenant = 256
)

// SyncDue starts the syncs of due connectors in the given shards, until none is due or this process has no
// slot. It returns the number of started syncs. They continue after it returns; Drain waits for them.
//
//  1. Reserve slots first, so that no claim waits in memory while another process is idle. Shards take turns
//     when slots are scarce.
//  2. Claim up to claimBatch connectors, fairly among tenants, with their data, in one statement.
//  3. Request a host slot. A few claims wait in the host's queue; the others are released and due again later.
//  4. List the tools, one goroutine a connector.
//  5. Write unchanged and failed outcomes in batches (outcomes.go). A changed list gets a run of its own.
func (s *Syncer) SyncDue(ctx context.Context, shards []int) (int, error) {
	ctx, cancel := s.contextUntilDrain(ctx)
	defer cancel()
	started := 0
	for {
		slots := s.slots.reserveSlots(ctx, claimBatch)
		n, more, err := s.startDue(ctx, slots, shards)
		if started += n; !more || err != nil {
			return started, err
		}
	}
}

// SyncDueOnce claims once, in all shards, for the slots that are free now. It serves processes with little to do.
// more reports that connectors may still be due.
func (s *Syncer) SyncDueOnce(ctx context.Context) (started int, more bool, err error) {
	ctx, cancel := s.contextUntilDrain(ctx)
	defer cancel()
	slots, _ := s.slots.tryReserve(1, claimBatch)
	if slots == 0 {
		return 0, true, nil
	}
	return s.startDue(ctx, slots, allShards())
}

// contextUntilDrain returns a context that also ends when Drain is called, after which no sync may begin.
func (s *Syncer) contextUntilDrain(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	unbind := context.AfterFunc(s.heartbeat.draining, cancel)
	return ctx, func() { unbind(); cancel() }
}

// startDue claims due connectors for reserved slots and starts their syncs. more reports that connectors may
// still be due.
func (s *Syncer) startDue(ctx context.Context, slots int, shards []int) (started int, more bool, err error) {
	if slots == 0 || ctx.Err() != nil {
		s.slots.returnSlots(slots)
		return 0, false, nil //nolint:nilerr // what is claimed now would not begin
	}
	claims, err := s.claimForSlots(ctx, shards, slots)
	if err != nil {
		return 0, false, err
	}
	busy := s.startClaims(ctx, claims)
	s.releaseBusy(ctx, busy)
	return len(claims) - len(busy), len(claims) == slots || len(busy) > 0, nil
}

// claimForSlots claims due connectors for reserved slots and returns the slots that stay empty.
func (s *Syncer) claimForSlots(ctx context.Context, shards []int, slots int) (claims []store.Claim, err error) {
	defer func() { s.slots.returnSlots(slots - len(claims)) }() // also when the claim panics
	return s.claimDue(ctx, shards, slots)
}

func allShards() []int {
	shards := make([]int, queue.Count)
	for i := range shards {
		shards[i] = i
	}
	return shards
}

// startClaims starts the syncs of claims and returns those with a full host queue, each with its delay.
func (s *Syncer) startClaims(ctx context.Context, claims []store.Claim) (busy []store.ClaimEnd) {
	for _, c := range claims {
		slot, retryAfter := s.slots.requestHostSlot(hostKey(c.Connector), c.Tenant, c.Connector.Timeout)
		if slot == nil {
			busy = append(busy, store.ClaimEnd{Claim: c, Wait: retryAfter})
			continue
		}
		s.startClaim(ctx, c, slot)
	}
	return busy
}

// startClaim starts the sync of a claimed connector that has a host slot or waits for one.
func (s *Syncer) startClaim(ctx context.Context, c store.Claim, slot *hostSlot) {
	ctx, end, err := s.beginRun(ctx)
	if err != nil { // the process stops, and its claims end with it
		slot.cancel()
		return
	}
	safe.Go(safe.Sync, func() {
		defer end()
		over := false
		defer func() {
			s.claims.remove(c.Connector.ID)
			if !over { // it panicked; the next heartbeat releases its claim
				s.claims.markUncertain()
			}
		}()
		s.syncClaimed(ctx, c, slot)
		over = true
	})
}

// releaseBusy releases the claims of busy hosts until later. If that fails the set forgets them, and a
// heartbeat releases them.
func (s *Syncer) releaseBusy(ctx context.Context, busy []store.ClaimEnd) {
	if len(busy) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTime)
	defer cancel()
	err := s.store.System().Syncs().ReleaseClaims(ctx, s.instance, busy)
	if err != nil {
		s.claims.markUncertain()
		s.log.WarnContext(ctx, "claims for busy servers not released", slog.Any("error", err))
	}
	for _, e := range busy {
		s.claims.remove(e.Claim.Connector.ID)
	}
}

// hostKey names the server of a connector in the host queues. A program has its own: the limit of programs
// bounds it.
func hostKey(c connectors.Connector) string {
	if c.Transport == connectors.TransportStdio {
		return c.ID.String()
	}
	return connectors.Origin(c.URL)
}
