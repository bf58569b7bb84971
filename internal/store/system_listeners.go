package store

import (
	"context"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/store/dbgen"
)

// OwnedConnector names a connector with its tenant.
type OwnedConnector struct {
	Tenant connectors.TenantID
	ID     connectors.ConnectorID
}

// ReviewListeners notes of connectors whether their servers are to be listened to, by their settings and by what the servers say that
// they can do. Any process may do it at any time.
func (s *System) ReviewListeners(ctx context.Context, moved ...OwnedConnector) error {
	tenants, ids := apart(moved)
	return s.tx(ctx, func(tx *System) error {
		return tx.scope.pipelined(ctx, func(q *dbgen.Queries) error {
			for _, step := range []func(context.Context, []uuid.UUID, []uuid.UUID) error{q.DropListeners, q.RenewListeners, q.AddListeners} {
				if err := step(ctx, tenants, ids); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// ListenersToReview finds connectors that ReviewListeners would change, at most max.
func (s *System) ListenersToReview(ctx context.Context, max int) ([]OwnedConnector, error) {
	rows, err := s.q.ListenersToReview(ctx, int32(max))
	if err != nil {
		return nil, err
	}
	moved := make([]OwnedConnector, len(rows))
	for i, r := range rows {
		moved[i] = OwnedConnector{Tenant: r.TenantID, ID: r.ID}
	}
	return moved, nil
}

// WakeListeners has streams tried now that wait for a credential, of connectors where some have changed.
func (s *System) WakeListeners(ctx context.Context, moved ...OwnedConnector) error {
	tenants, ids := apart(moved)
	return s.q.WakeListeners(ctx, tenants, ids)
}

func apart(owned []OwnedConnector) (tenants, ids []uuid.UUID) {
	for _, c := range owned {
		tenants, ids = append(tenants, c.Tenant.UUID), append(ids, c.ID.UUID)
	}
	return tenants, ids
}

// ClaimedStream is a stream that a process is to open.
type ClaimedStream struct {
	Tenant    connectors.TenantID
	Connector connectors.ConnectorID
	Reason    connectors.ListenReason // why it waited
	Missed    bool                    // it was open before, and nobody has asked for a sync since it ended
	Failures  int                     // in a row, for that reason
	Vain      int                     // how often in a row the lists had not changed after all
}

// ClaimStreams gives a process that is alive at most max of the streams that nobody holds and that are due, but none of those that it
// has open already.
func (s *System) ClaimStreams(ctx context.Context, id connectors.InstanceID, max int, open ...connectors.ConnectorID) ([]ClaimedStream, error) {
	rows, err := s.q.ClaimListeners(ctx, &id, plainIDs(open), int32(max))
	if err != nil {
		return nil, err
	}
	claimed := make([]ClaimedStream, len(rows))
	for i, r := range rows {
		claimed[i] = ClaimedStream{Tenant: r.TenantID, Connector: r.ConnectorID, Reason: connectors.ListenReason(r.Reason), Missed: r.Missed, Failures: int(r.Failures), Vain: int(r.Vain)}
	}
	return claimed, nil
}

// HeldStream is a stream that a process holds, as the database knows it.
type HeldStream struct {
	Tenant    connectors.TenantID
	Connector connectors.ConnectorID
	Stale     bool // the connector's settings or the credential are not what it was opened with
}

// HeldStreams are all that a process holds.
func (s *System) HeldStreams(ctx context.Context, id connectors.InstanceID) ([]HeldStream, error) {
	rows, err := s.q.HeldListeners(ctx, &id)
	if err != nil {
		return nil, err
	}
	held := make([]HeldStream, len(rows))
	for i, r := range rows {
		held[i] = HeldStream{Tenant: r.TenantID, Connector: r.ConnectorID, Stale: r.Stale}
	}
	return held, nil
}

// RetakeStreams gives a process that was taken for dead the streams back that it still has open, where nobody has taken them: it returns
// those.
func (s *System) RetakeStreams(ctx context.Context, id connectors.InstanceID, open ...OwnedConnector) ([]OwnedConnector, error) {
	tenants, ids := apart(open)
	rows, err := s.q.RetakeListeners(ctx, &id, tenants, ids)
	if err != nil {
		return nil, err
	}
	kept := make([]OwnedConnector, len(rows))
	for i, r := range rows {
		kept[i] = OwnedConnector{Tenant: r.TenantID, ID: r.ConnectorID}
	}
	return kept, nil
}

// ReleaseStreams frees all that a process holds: it stops.
func (s *System) ReleaseStreams(ctx context.Context, id connectors.InstanceID) error {
	return s.q.ReleaseListeners(ctx, &id)
}
