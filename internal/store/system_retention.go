package store

import (
	"context"
	"time"

	"patchbay/internal/connectors"
)

// HistoryOf is a tenant with how many days of history it wants; 0: as many as the installation keeps.
type HistoryOf struct {
	Tenant connectors.TenantID
	Days   int
}

// HistoryTenants lists a page of tenants by id, after one of them (zero: from the first).
func (s *System) HistoryTenants(ctx context.Context, after connectors.TenantID, max int) ([]HistoryOf, error) {
	rows, err := s.q.HistoryTenants(ctx, after.UUID, int32(max))
	if err != nil {
		return nil, err
	}
	all := make([]HistoryOf, len(rows))
	for i, r := range rows {
		all[i] = HistoryOf{Tenant: r.ID, Days: historyDays(r.HistoryDays)}
	}
	return all, nil
}

func historyDays(days *int16) int {
	if days == nil {
		return 0
	}
	return int(*days)
}

// SweepLeftovers forgets what was begun and never ended: connections of accounts, links to connect and to set up, failed sign-ins, our
// own registrations whose secret has ended, and programs that signed in, or only registered, and were not heard of in time; and requests
// of calls that missed an account, a day after they were over. Any process may do it at any time. It says how many rows are gone.
func (s *System) SweepLeftovers(ctx context.Context) (int, error) {
	gone := 0
	for _, drop := range []func(context.Context) (int64, error){
		s.q.DropStaleFlows, s.q.DropExpiredConnectLinks, s.q.DropSpentSetupLinks, s.q.DropOldSignInFailures, s.q.DropDeadRegistrations,
		s.q.DropUnusedClients, s.q.DropEndedAgentClients, s.q.DropEndedClientTokens, s.q.DropEndedMemberTokens,
		s.q.DropSpentConfirmations, s.q.DropOldAccountRequests,
	} {
		n, err := drop(ctx)
		gone += int(n)
		if err != nil {
			return gone, err
		}
	}
	return gone, nil
}

// IdleGrant is an account that nobody used for a day, with the version that was seen.
type IdleGrant struct {
	Tenant    connectors.TenantID
	ID        connectors.CredentialID
	Connector connectors.ConnectorID
	Agent     *connectors.AgentID // nil: the shared one
	Version   int
	Issuer    string

	at time.Time // when it last changed
}

// IdleGrants lists accounts that are to be renewed although nobody uses them, the longest idle first, after one of them (nil: from the
// first). Connectors that are disabled are left out.
func (s *System) IdleGrants(ctx context.Context, after *IdleGrant, max int) ([]IdleGrant, error) {
	if after == nil {
		after = &IdleGrant{}
	}
	rows, err := s.q.IdleGrants(ctx, after.at, after.ID.UUID, int32(max))
	if err != nil {
		return nil, err
	}
	all := make([]IdleGrant, len(rows))
	for i, r := range rows {
		all[i] = IdleGrant{
			Tenant: r.TenantID, ID: r.ID, Connector: r.ConnectorID, Agent: r.AgentID, Version: int(r.Version), Issuer: r.Issuer, at: r.UpdatedAt,
		}
	}
	return all, nil
}
