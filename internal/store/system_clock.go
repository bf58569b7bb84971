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

// Rows that one claim considers per shard: the longest due, and the most recently due.
const (
	maxOldestDue = 8000
	maxNewestDue = 1000
)

// Claim is a due connector that this process syncs, with its known state.
type Claim struct {
	Tenant    connectors.TenantID
	Connector connectors.Connector // without tool names and environment names
	ToolsHash *connectors.Hash     // of the known list; nil: none
	DueAt     time.Time
	Failures  int           // consecutive
	Failing   time.Duration // since the first of them
	Known     bool          // Connector has recent server information, which need not be requested again

	instance     connectors.InstanceID
	claimedAt    time.Time // distinguishes it from a later claim
	isRepeatable bool      // the newest run is a scheduled one that can count repetitions
}

// IsUnchanged reports whether a list of this hash and observation is known already, so that no run needs to be
// stored.
func (c Claim) IsUnchanged(hash connectors.Hash, seen ServerObservation) bool {
	k := c.Connector
	return c.ToolsHash != nil && *c.ToolsHash == hash && c.Failures == 0 && k.LastError == nil && k.Server == seen.Server &&
		string(k.Capabilities) == string(seen.Capabilities) &&
		(seen.Items == nil || !seen.Items.IsChanged()) && (seen.Era == "" || seen.Era == k.Era) && (seen.AuthBehaviour == "" || seen.AuthBehaviour == k.AuthBehaviour)
}

// DueShards counts the due and unclaimed connectors per shard, up to max in each.
func (s SystemSyncs) DueShards(ctx context.Context, max int) (map[int]int, error) {
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

// ClaimClockTick reports whether no process took the clock's turn in the last second, and takes it.
func (s SystemSyncs) ClaimClockTick(ctx context.Context) (bool, error) {
	n, err := s.q.ClaimClockTick(ctx)
	return n > 0, err
}

// ClaimDue claims at most max connectors of the shards for a process. A tenant has at most perTenant claims in
// all processes. Tenants with fewer claims come first, regardless of waiting time.
func (s SystemSyncs) ClaimDue(ctx context.Context, id connectors.InstanceID, shards []int, perTenant, max int) ([]Claim, error) {
	p := dbgen.ClaimDueParams{InstanceID: id.UUID, Oldest: maxOldestDue, Newest: maxNewestDue, PerTenant: int32(perTenant), MaxRows: int32(max)}
	var locked []int32
	for _, shard := range slices.Sorted(slices.Values(shards)) {
		p.Shards, locked = append(p.Shards, int16(shard)), append(locked, int32(shard))
	}
	if len(shards) == queue.Count { // if little is due, all shards are claimed at once
		p.Newest = 0
	}
	var rows []dbgen.ClaimDueRow
	err := s.scope.runBatch(ctx,
		func(q *dbgen.Queries) error { return q.LockShards(ctx, locked) },
		func(q *dbgen.Queries) (err error) { rows, err = q.ClaimDue(ctx, p); return err },
	)
	if err != nil {
		return nil, err
	}
	claims := make([]Claim, len(rows))
	for i, r := range rows {
		claims[i] = Claim{
			Tenant:       r.Connector.TenantID,
			Connector:    toConnector(dbgen.ConnectorByRefRow{Connector: r.Connector}),
			ToolsHash:    toHash(r.Connector.ToolsHash),
			DueAt:        r.DueAt.UTC(),
			Failures:     int(r.Failures),
			Failing:      time.Duration(r.FailingS * float64(time.Second)),
			Known:        r.Known,
			instance:     id,
			claimedAt:    *r.ClaimedAt,
			isRepeatable: r.RunID != nil,
		}
	}
	return claims, nil
}

// ClaimEnd is the result of a claim's sync.
type ClaimEnd struct {
	Claim Claim
	Began time.Time
	Took  time.Duration

	ListHash connectors.Hash // if unchanged
	Seen     ServerObservation
	Error    connectors.SyncError    // if failed
	Requests connectors.SyncRequests // if failed
	Wait     time.Duration           // if cancelled: until it is due again
}

// EndUnchanged stores unchanged results of many claims in one statement and releases the connectors. It returns
// those that it could not end: the claim is lost, or the connector has changed.
func (s SystemSyncs) EndUnchanged(ctx context.Context, id connectors.InstanceID, ends []ClaimEnd) ([]ClaimEnd, error) {
	p := dbgen.EndUnchangedParams{InstanceID: id.UUID}
	for i := range ends {
		e := &ends[i]
		p.TenantIds, p.ConnectorIds = append(p.TenantIds, e.Claim.Tenant.UUID), append(p.ConnectorIds, e.Claim.Connector.ID.UUID)
		p.ClaimedAts, p.RunIds = append(p.ClaimedAts, e.Claim.claimedAt), append(p.RunIds, newID())
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
	return removeEnds(ends, done), nil
}

// EndFailed stores failures of many claims in one statement and releases the connectors. It returns those with
// a lost claim.
func (s SystemSyncs) EndFailed(ctx context.Context, id connectors.InstanceID, ends []ClaimEnd) ([]ClaimEnd, error) {
	p := dbgen.EndFailedParams{InstanceID: id.UUID}
	for i := range ends {
		e := &ends[i]
		c := e.Claim.Connector
		p.TenantIds, p.ConnectorIds = append(p.TenantIds, e.Claim.Tenant.UUID), append(p.ConnectorIds, c.ID.UUID)
		p.ClaimedAts, p.RunIds = append(p.ClaimedAts, e.Claim.claimedAt), append(p.RunIds, newID())
		p.BeganAts, p.TookMs = append(p.BeganAts, e.Began), append(p.TookMs, e.Took.Milliseconds())
		again := e.Claim.isRepeatable && e.Claim.Failures > 0 && c.LastError != nil && c.LastError.Code == e.Error.Code
		p.Again, p.Requests = append(p.Again, again), append(p.Requests, e.requestsJSON(again))
		p.Codes, p.Messages = append(p.Codes, cleanText(e.Error.Code)), append(p.Messages, cleanText(e.Error.Message))
		p.AuthBehaviours, p.Upstreams = append(p.AuthBehaviours, string(e.Seen.AuthBehaviour)), append(p.Upstreams, string(encodeUpstream(e.Error.Upstream)))
		answered, silent := failureCounts(e.Error.Code)
		p.Answered, p.Silent = append(p.Answered, answered), append(p.Silent, silent)
		p.WaitsS = append(p.WaitsS, e.waitSeconds())
	}
	rows, err := s.q.EndFailed(ctx, p)
	if err != nil {
		return nil, err
	}
	done := make(map[uuid.UUID]bool, len(rows))
	for _, r := range rows {
		done[r.ID] = true
	}
	return removeEnds(ends, done), nil
}

// requestsJSON returns the requests to store with a failure's run; empty: none, or no run is stored.
func (e ClaimEnd) requestsJSON(again bool) string {
	if again || len(e.Requests.List) == 0 {
		return ""
	}
	return string(encodeRequests(e.Requests))
}

// waitSeconds returns the pause in seconds; negative: until a person fixes it.
func (e ClaimEnd) waitSeconds() float64 {
	wait, ok := connectors.SyncFailure{
		Code: e.Error.Code, Temporary: e.Error.Temporary, RetryAfter: e.Error.RetryAfter,
		Interval: e.Claim.Connector.SyncInterval, Failures: e.Claim.Failures, FailingFor: e.Claim.Failing,
	}.RetryDelay()
	if !ok {
		return -1
	}
	return wait.Seconds()
}

// ReleaseClaims releases claims without a result. They are due again after their waits, and no failure is
// counted.
func (s SystemSyncs) ReleaseClaims(ctx context.Context, id connectors.InstanceID, ends []ClaimEnd) error {
	p := dbgen.ReleaseClaimsParams{InstanceID: id.UUID}
	for _, e := range ends {
		p.TenantIds, p.ConnectorIds = append(p.TenantIds, e.Claim.Tenant.UUID), append(p.ConnectorIds, e.Claim.Connector.ID.UUID)
		p.ClaimedAts, p.WaitsS = append(p.ClaimedAts, e.Claim.claimedAt), append(p.WaitsS, e.Wait.Seconds())
	}
	return s.q.ReleaseClaims(ctx, p)
}

// ReleaseUnknownClaims releases a process's claims except known: the response to a claim was lost. No claim of
// the process may be in progress.
func (s SystemSyncs) ReleaseUnknownClaims(ctx context.Context, id connectors.InstanceID, known []connectors.ConnectorID) (int, error) {
	ids := make([]uuid.UUID, len(known))
	for i, c := range known {
		ids[i] = c.UUID
	}
	n, err := s.q.ReleaseUnknownClaims(ctx, id.UUID, ids)
	return int(n), err
}

func removeEnds(ends []ClaimEnd, done map[uuid.UUID]bool) []ClaimEnd {
	var left []ClaimEnd
	for _, e := range ends {
		if !done[e.Claim.Connector.ID.UUID] {
			left = append(left, e)
		}
	}
	return left
}

// LongQueued lists the runs queued for longer than since, up to most, as the jobs that they should have, and
// the live processes.
func (s SystemSyncs) LongQueued(ctx context.Context, since time.Duration, most int) (runs []queue.SyncTools, alive []uuid.UUID, err error) {
	var rows []dbgen.LongQueuedRunsRow
	var instances []connectors.InstanceID
	err = s.scope.runReadBatch(ctx,
		func(q *dbgen.Queries) (err error) {
			rows, err = q.LongQueuedRuns(ctx, since.Seconds(), int32(most))
			return err
		},
		func(q *dbgen.Queries) (err error) { instances, err = q.LiveInstances(ctx); return err },
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
