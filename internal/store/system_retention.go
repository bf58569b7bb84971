package store

import (
	"context"
	"time"

	"patchbay/internal/connectors"
)

// TenantHistory is a tenant's number of history days; 0: the installation's.
type TenantHistory struct {
	Tenant connectors.TenantID
	Days   int
}

// HistoryTenants lists a page of tenants by id after one; zero: from the first.
func (s *System) HistoryTenants(ctx context.Context, after connectors.TenantID, max int) ([]TenantHistory, error) {
	rows, err := s.q.HistoryTenants(ctx, after.UUID, int32(max))
	if err != nil {
		return nil, err
	}
	all := make([]TenantHistory, len(rows))
	for i, r := range rows {
		all[i] = TenantHistory{Tenant: r.ID, Days: historyDays(r.HistoryDays)}
	}
	return all, nil
}

func historyDays(days *int16) int {
	if days == nil {
		return 0
	}
	return int(*days)
}

// SweepExpired deletes expired flows, links, failed sign-ins, registrations with an expired secret, idle OAuth
// clients, and account requests a day after their end. It returns the number of rows. Any process may call it.
func (s *System) SweepExpired(ctx context.Context) (int, error) {
	deleted := 0
	for _, drop := range []func(context.Context) (int64, error){
		s.q.DeleteStaleFlows, s.q.DeleteExpiredConnectLinks, s.q.DeleteSpentSetupLinks, s.q.DeleteOldSignInFailures, s.q.DeleteDeadRegistrations,
		s.q.DeleteUnusedClients, s.q.DeleteEndedAgentClients, s.q.DeleteEndedClientTokens, s.q.DeleteEndedMemberTokens,
		s.q.DeleteSpentConfirmations, s.q.DeleteExpiredAssertions, s.q.DeleteExpiredProofs, s.q.DeleteOldAccountRequests,
	} {
		n, err := drop(ctx)
		deleted += int(n)
		if err != nil {
			return deleted, err
		}
	}
	return deleted, nil
}

// IdleGrant is an account that was not used for a day, with its version.
type IdleGrant struct {
	Tenant    connectors.TenantID
	ID        connectors.CredentialID
	Connector connectors.ConnectorID
	Agent     *connectors.AgentID // nil: the shared one
	Version   int
	Issuer    string

	changedAt time.Time // last change
}

// IdleGrants lists unused accounts to refresh, longest idle first, after one; nil: from the first. Disabled
// connectors are left out.
func (s *System) IdleGrants(ctx context.Context, after *IdleGrant, max int) ([]IdleGrant, error) {
	if after == nil {
		after = &IdleGrant{}
	}
	rows, err := s.q.IdleGrants(ctx, after.changedAt, after.ID.UUID, int32(max))
	if err != nil {
		return nil, err
	}
	all := make([]IdleGrant, len(rows))
	for i, r := range rows {
		all[i] = IdleGrant{
			Tenant: r.TenantID, ID: r.ID, Connector: r.ConnectorID, Agent: r.AgentID, Version: int(r.Version), Issuer: r.Issuer, changedAt: r.UpdatedAt,
		}
	}
	return all, nil
}
