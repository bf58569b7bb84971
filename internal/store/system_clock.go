package store

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/queue"
	"patchbay/internal/store/dbgen"
)

// What one claim looks at, of each shard: so many that are longest due, and so many that are newly due.
const (
	oldestSeen = 8000
	newestSeen = 1000
)

// Claim is a connector that this process syncs because it is due, with what is known of it.
type Claim struct {
	Tenant    connectors.TenantID
	Connector connectors.Connector // without the names of its tools and of its environment
	ToolsHash *connectors.Hash     // of the list that is known; nil: none
	DueAt     time.Time
	Failures  int           // in a row
	Failing   time.Duration // since the first of them
	Known     bool          // what its server said of itself lately is in Connector, and need not be asked again

	instance connectors.InstanceID
	at       time.Time // tells it from a later claim
	repeats  bool      // the newest run is a scheduled one that later ones may repeat
}

// Plain tells whether a list of this hash, from this server, is what is known already: then nothing needs a row of its own.
func (c Claim) Plain(hash connectors.Hash, seen Seen) bool {
	k := c.Connector
	return c.ToolsHash != nil && *c.ToolsHash == hash && c.Failures == 0 && k.LastError == nil && k.Server == seen.Server &&
		string(k.Capabilities) == string(seen.Capabilities) &&
		(seen.Era == "" || seen.Era == k.Era) && (seen.AuthBehaviour == "" || seen.AuthBehaviour == k.AuthBehaviour)
}

// DueShards counts the connectors that are due and that nobody has, by shard, up to max in each.
func (s *System) DueShards(ctx context.Context, max int) (map[int]int, error) {
	shards := make([]int16, queue.Count)
	for i := range shards {
		shards[i] = int16(i)
	}
	rows, err := s.q.DueShards(ctx, shards, int32(max))
	if err != nil {
		return nil, err
	}
	due := make(map[int]int, len(rows))
	for _, r := range rows {
		due[int(r.Shard)] = int(r.Connectors)
	}
	return due, nil
}

// TakeClockTurn tells whether no process has taken the clock's turn in the last second. It is the caller's then.
func (s *System) TakeClockTurn(ctx context.Context) (bool, error) {
	n, err := s.q.TakeClockTurn(ctx)
	return n > 0, err
}

// ClaimDue gives a process at most max connectors of the shards to sync. A tenant has perTenant under way at once, in all processes
// together, and its turn comes by how many it has before itself, not by how long they have waited.
func (s *System) ClaimDue(ctx context.Context, id connectors.InstanceID, shards []int, perTenant, max int) ([]Claim, error) {
	p := dbgen.ClaimDueParams{InstanceID: id.UUID, Oldest: oldestSeen, Newest: newestSeen, PerTenant: int32(perTenant), MaxRows: int32(max)}
	var locked []int32
	for _, shard := range slices.Sorted(slices.Values(shards)) {
		p.Shards, locked = append(p.Shards, int16(shard)), append(locked, int32(shard))
	}
	if len(shards) == queue.Count { // little is due, where all are claimed of
		p.Newest = 0
	}
	var rows []dbgen.ClaimDueRow
	err := s.scope.together(ctx,
		func(q *dbgen.Queries) error { return q.LockShards(ctx, locked) },
		func(q *dbgen.Queries) (err error) { rows, err = q.ClaimDue(ctx, p); return err },
	)
	if err != nil {
		return nil, err
	}
	claims := make([]Claim, len(rows))
	for i, r := range rows {
		claims[i] = Claim{
			Tenant:    r.Connector.TenantID,
			Connector: connectorOf(dbgen.ConnectorByRefRow{Connector: r.Connector}),
			ToolsHash: hashOf(r.Connector.ToolsHash),
			DueAt:     r.DueAt.UTC(),
			Failures:  int(r.Failures),
			Failing:   time.Duration(r.FailingS * float64(time.Second)),
			Known:     r.Known,
			instance:  id,
			at:        *r.ClaimedAt,
			repeats:   r.RunID != nil,
		}
	}
	return claims, nil
}

// Ended is the end of a claim's sync.
type Ended struct {
	Claim Claim
	Began time.Time
	Took  time.Duration

	ListHash connectors.Hash // of one that changed nothing
	Seen     Seen
	Error    connectors.SyncError    // of one that failed
	Requests connectors.SyncRequests // likewise
	Wait     time.Duration           // of one that came to nothing: when it is due again
}

// EndUnchanged stores the ends of many syncs that changed nothing, in one statement, and gives their connectors free. It returns
// those that could not be ended so: their claim is lost, or the connector is not any more what it was.
func (s *System) EndUnchanged(ctx context.Context, id connectors.InstanceID, ends []Ended) ([]Ended, error) {
	p := dbgen.EndUnchangedParams{InstanceID: id.UUID}
	for i := range ends {
		e := &ends[i]
		p.TenantIds, p.ConnectorIds = append(p.TenantIds, e.Claim.Tenant.UUID), append(p.ConnectorIds, e.Claim.Connector.ID.UUID)
		p.ClaimedAts, p.RunIds = append(p.ClaimedAts, e.Claim.at), append(p.RunIds, newID())
		p.Hashes = append(p.Hashes, e.ListHash[:])
		p.BeganAts, p.TookMs = append(p.BeganAts, e.Began), append(p.TookMs, e.Took.Milliseconds())
		p.KnownS = append(p.KnownS, e.Seen.KnownFor.Seconds())
		p.Totals, p.Quarantined = append(p.Totals, int32(e.Seen.Total)), append(p.Quarantined, int32(e.Seen.Quarantined))
	}
	rows, err := s.q.EndUnchanged(ctx, p)
	if err != nil {
		return nil, err
	}
	done := make(map[uuid.UUID]bool, len(rows))
	for _, r := range rows {
		done[r.ConnectorID.UUID] = true
	}
	return without(ends, done), nil
}

// EndFailed stores the ends of many syncs that failed, in one statement, and gives their connectors free. It returns those whose
// claim is lost.
func (s *System) EndFailed(ctx context.Context, id connectors.InstanceID, ends []Ended) ([]Ended, error) {
	p := dbgen.EndFailedParams{InstanceID: id.UUID}
	for i := range ends {
		e := &ends[i]
		c := e.Claim.Connector
		p.TenantIds, p.ConnectorIds = append(p.TenantIds, e.Claim.Tenant.UUID), append(p.ConnectorIds, c.ID.UUID)
		p.ClaimedAts, p.RunIds = append(p.ClaimedAts, e.Claim.at), append(p.RunIds, newID())
		p.BeganAts, p.TookMs = append(p.BeganAts, e.Began), append(p.TookMs, e.Took.Milliseconds())
		again := e.Claim.repeats && e.Claim.Failures > 0 && c.LastError != nil && c.LastError.Code == e.Error.Code
		p.Again, p.Requests = append(p.Again, again), append(p.Requests, e.requests(again))
		p.Codes, p.Messages = append(p.Codes, clean(e.Error.Code)), append(p.Messages, clean(e.Error.Message))
		p.AuthBehaviours = append(p.AuthBehaviours, string(e.Seen.AuthBehaviour))
		answered, silent := hourCount(e.Error.Code)
		p.Answered, p.Silent = append(p.Answered, answered), append(p.Silent, silent)
		p.WaitsS = append(p.WaitsS, e.wait())
	}
	rows, err := s.q.EndFailed(ctx, p)
	if err != nil {
		return nil, err
	}
	done := make(map[uuid.UUID]bool, len(rows))
	for _, r := range rows {
		done[r.ID] = true
	}
	return without(ends, done), nil
}

// requests are those that the run of a failure is stored with, as JSON; empty: none, or it gets no run.
func (e Ended) requests(again bool) string {
	if again || len(e.Requests.List) == 0 {
		return ""
	}
	return string(encodeRequests(e.Requests))
}

// wait is how long the connector is left alone, in seconds; negative: until somebody mends it.
func (e Ended) wait() float64 {
	wait, ok := connectors.Trouble{
		Code: e.Error.Code, Temporary: e.Error.Temporary, RetryAfter: e.Error.RetryAfter,
		Interval: e.Claim.Connector.SyncInterval, Failures: e.Claim.Failures, Failing: e.Claim.Failing,
	}.Wait()
	if !ok {
		return -1
	}
	return wait.Seconds()
}

// ReleaseClaims gives connectors free whose syncs came to nothing; they are due again after their waits. No failure is counted.
func (s *System) ReleaseClaims(ctx context.Context, id connectors.InstanceID, ends []Ended) error {
	p := dbgen.ReleaseClaimsParams{InstanceID: id.UUID}
	for _, e := range ends {
		p.TenantIds, p.ConnectorIds = append(p.TenantIds, e.Claim.Tenant.UUID), append(p.ConnectorIds, e.Claim.Connector.ID.UUID)
		p.ClaimedAts, p.WaitsS = append(p.ClaimedAts, e.Claim.at), append(p.WaitsS, e.Wait.Seconds())
	}
	return s.q.ReleaseClaims(ctx, p)
}

// ReleaseForgotten gives free what a process has claimed and does not know of, because the answer to a claim was lost; known are the
// connectors that it does. No claim of the process may be under way.
func (s *System) ReleaseForgotten(ctx context.Context, id connectors.InstanceID, known []connectors.ConnectorID) (int, error) {
	ids := make([]uuid.UUID, len(known))
	for i, c := range known {
		ids[i] = c.UUID
	}
	n, err := s.q.ReleaseForgotten(ctx, id.UUID, ids)
	return int(n), err
}

func without(ends []Ended, done map[uuid.UUID]bool) []Ended {
	var left []Ended
	for _, e := range ends {
		if !done[e.Claim.Connector.ID.UUID] {
			left = append(left, e)
		}
	}
	return left
}

// LongQueued lists the runs that have been queued for so long, up to most of them, as the jobs that they ought to have, and the processes
// that are alive.
func (s *System) LongQueued(ctx context.Context, since time.Duration, most int) (runs []queue.SyncTools, alive []uuid.UUID, err error) {
	var rows []dbgen.LongQueuedRunsRow
	var instances []connectors.InstanceID
	err = s.scope.readTogether(ctx,
		func(q *dbgen.Queries) (err error) {
			rows, err = q.LongQueuedRuns(ctx, since.Seconds(), int32(most))
			return err
		},
		func(q *dbgen.Queries) (err error) { instances, err = q.LivingInstances(ctx); return err },
	)
	if err != nil {
		return nil, nil, err
	}
	for _, r := range rows {
		runs = append(runs, queue.SyncTools{TenantID: r.TenantID.UUID, ConnectorID: r.ConnectorID.UUID, SyncRunID: r.ID.UUID})
	}
	for _, id := range instances {
		alive = append(alive, id.UUID)
	}
	return runs, alive, nil
}
