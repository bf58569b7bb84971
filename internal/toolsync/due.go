package toolsync

import (
	"context"

	"patchbay/internal/connectors"
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
//  3. talk: each by itself, no more than perHost with one server
//  4. end: what is unchanged is collected and written together (ends.go); what is not gets a run, as any other sync
func (s *Syncer) SyncDue(ctx context.Context, shards []int) (int, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.heart.ending, cancel)() // what is claimed then would not begin
	began := 0
	for {
		room := s.places.reserve(ctx, perClaim)
		if room == 0 || ctx.Err() != nil {
			s.places.refund(room)
			return began, nil
		}
		claims, err := s.claim(ctx, shards, room)
		s.places.refund(room - len(claims))
		if err != nil {
			return began, err
		}
		for _, c := range claims {
			s.launch(ctx, c)
		}
		if began += len(claims); len(claims) < room {
			return began, nil
		}
	}
}

// launch syncs a claimed connector, whose place is reserved.
func (s *Syncer) launch(ctx context.Context, c store.Claim) {
	ctx, end, err := s.begin(ctx)
	if err != nil { // the process stops, and its claims end with it
		s.places.refund(1)
		return
	}
	go func() {
		defer end()
		defer s.held.forget(c.Connector.ID)
		s.syncClaimed(ctx, c)
	}()
}

// server names the server of a connector for the count of conversations with it. A program is counted by its own seats.
func server(c connectors.Connector) string {
	if c.Transport == connectors.TransportStdio {
		return c.ID.String()
	}
	return connectors.Origin(c.URL)
}
