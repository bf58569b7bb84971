package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"patchbay/internal/connectors"
	"patchbay/internal/store/dbgen"
)

// AddCalls writes ended calls in one cheaper statement, assuming that none is stored yet. Use EndCalls to retry
// after a lost response.
func (s SystemCalls) AddCalls(ctx context.Context, calls []OwnedCall) error {
	columns := toEndParams(calls)
	locked, err := s.q.AddCalls(ctx, toAddParams(&columns, calls))
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok && pg.ConstraintName == "tool_calls_pkey" {
		return s.endCalls(ctx, columns, calls)
	}
	if err != nil {
		return err
	}
	return newLockedCallsError(calls, locked)
}

// callBucket is the key of a latency count.
type callBucket struct {
	head   int64
	hour   time.Time
	bucket int16
}

// noBucket is the bucket of a call that measured no upstream.
const noBucket = -1

// findBucket returns the latency bucket as the SQL of EndCalls does. Only calls sent at once and without a task
// measure the upstream.
func findBucket(c *connectors.ToolCall) int16 {
	switch c.Outcome {
	case connectors.OutcomeOK, connectors.OutcomeToolError, connectors.OutcomeRPCError, connectors.OutcomeTransport:
		if c.ApprovedBy == "" && c.Task == nil {
			return int16(connectors.LatencyBucket(c.Duration)) //nolint:gosec // at most 80
		}
	}
	return noBucket
}

// toAddParams adds the counts per bucket to the columns.
func toAddParams(c *dbgen.EndCallsParams, calls []OwnedCall) dbgen.AddCallsParams {
	p := dbgen.AddCallsParams{
		Nobody: c.Nobody, Numbers: c.Numbers, TenantIds: c.TenantIds, AgentIds: c.AgentIds, AgentSlugs: c.AgentSlugs, ConnectorIds: c.ConnectorIds,
		ConnectorSlugs: c.ConnectorSlugs, Kinds: c.Kinds, Tools: c.Tools, ExposedNames: c.ExposedNames, Sources: c.Sources, Callers: c.Callers,
		TokenIds: c.TokenIds, CredentialIds: c.CredentialIds, DefinitionHashes: c.DefinitionHashes, InstanceIds: c.InstanceIds, Statuses: c.Statuses,
		Outcomes: c.Outcomes, ErrorCodes: c.ErrorCodes, ErrorMessages: c.ErrorMessages, IsErrors: c.IsErrors, ApprovedBys: c.ApprovedBys,
		StructuredValids: c.StructuredValids, StructuredErrors: c.StructuredErrors,
		Truncateds: c.Truncateds, Addresses: c.Addresses, Packeds: c.Packeds, Heads: c.Heads, Ids: c.Ids, RequestBytes: c.RequestBytes,
		ResponseBytes: c.ResponseBytes, StartedAts: c.StartedAts, CompletedAts: c.CompletedAts, DurationsUs: c.DurationsUs, RequestIds: c.RequestIds,
		Arguments: c.Arguments, Tasks: c.Tasks, Structureds: c.Structureds, Results: c.Results, Upstreams: c.Upstreams,
	}
	counts := map[callBucket]int64{}
	for i := range calls {
		counts[callBucket{c.Heads[i], c.CompletedAts[i].UTC().Truncate(time.Hour), findBucket(&calls[i].ToolCall)}]++
	}
	for as, n := range counts {
		p.CountedHeads = append(p.CountedHeads, as.head)
		p.Hours = append(p.Hours, as.hour)
		p.Buckets = append(p.Buckets, as.bucket)
		p.Counts = append(p.Counts, n)
	}
	return p
}
