package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"patchbay/internal/connectors"
	"patchbay/internal/store/dbgen"
)

// AddCalls writes calls that have ended, of which nothing is believed to be written: as EndCalls does, for less. Where something is written,
// since the answer to a try before was lost, it is EndCalls.
func (s *System) AddCalls(ctx context.Context, calls []OwnedCall) error {
	columns := columnsOf(calls)
	held, err := s.q.AddCalls(ctx, addedColumns(&columns, calls))
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok && pg.ConstraintName == "tool_calls_pkey" {
		return s.endCalls(ctx, columns, calls)
	}
	if err != nil {
		return err
	}
	return heldOf(calls, held)
}

// countedAs is where calls count: an hour, and how long the server took.
type countedAs struct {
	head   int64
	hour   time.Time
	bucket int16
}

// unmeasured is the bucket of a call that says nothing of its server.
const unmeasured = -1

// bucketOf is as EndCalls has PostgreSQL choose: what was sent to a server at once, and is no task, says how long the server took.
func bucketOf(c *connectors.ToolCall) int16 {
	switch c.Outcome {
	case connectors.OutcomeOK, connectors.OutcomeToolError, connectors.OutcomeRPCError, connectors.OutcomeTransport:
		if c.ApprovedBy == "" && c.Task == nil {
			return int16(connectors.LatencyBucket(c.Duration)) //nolint:gosec // at most 80
		}
	}
	return unmeasured
}

// addedColumns are the columns with what is to be counted beside them.
func addedColumns(c *dbgen.EndCallsParams, calls []OwnedCall) dbgen.AddCallsParams {
	p := dbgen.AddCallsParams{
		Nobody: c.Nobody, Numbers: c.Numbers, TenantIds: c.TenantIds, AgentIds: c.AgentIds, AgentSlugs: c.AgentSlugs, ConnectorIds: c.ConnectorIds,
		ConnectorSlugs: c.ConnectorSlugs, Kinds: c.Kinds, Tools: c.Tools, ExposedNames: c.ExposedNames, Sources: c.Sources, Callers: c.Callers,
		TokenIds: c.TokenIds, CredentialIds: c.CredentialIds, DefinitionHashes: c.DefinitionHashes, InstanceIds: c.InstanceIds, Statuses: c.Statuses,
		Outcomes: c.Outcomes, ErrorCodes: c.ErrorCodes, ErrorMessages: c.ErrorMessages, IsErrors: c.IsErrors, ApprovedBys: c.ApprovedBys,
		Truncateds: c.Truncateds, Addresses: c.Addresses, Packeds: c.Packeds, Heads: c.Heads, Ids: c.Ids, RequestBytes: c.RequestBytes,
		ResponseBytes: c.ResponseBytes, StartedAts: c.StartedAts, CompletedAts: c.CompletedAts, DurationsUs: c.DurationsUs, RequestIds: c.RequestIds,
		Arguments: c.Arguments, Tasks: c.Tasks, Structureds: c.Structureds, Results: c.Results,
	}
	counts := map[countedAs]int64{}
	for i := range calls {
		counts[countedAs{c.Heads[i], c.CompletedAts[i].UTC().Truncate(time.Hour), bucketOf(&calls[i].ToolCall)}]++
	}
	for as, n := range counts {
		p.CountedHeads = append(p.CountedHeads, as.head)
		p.Hours = append(p.Hours, as.hour)
		p.Buckets = append(p.Buckets, as.bucket)
		p.Counts = append(p.Counts, n)
	}
	return p
}
