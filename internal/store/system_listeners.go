package store

import (
	"context"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/store/dbgen"
)

// OwnedConnector is a connector's id with its tenant.
type OwnedConnector struct {
	Tenant connectors.TenantID
	ID     connectors.ConnectorID
}

// ReviewListeners updates which connectors are to be listened to, by their settings and their servers'
// capabilities. Any process may call it.
func (s SystemSyncs) ReviewListeners(ctx context.Context, moved ...OwnedConnector) error {
	tenants, ids := splitOwned(moved)
	return s.inTx(ctx, func(tx *System) error {
		return tx.scope.runPipeline(ctx, func(q *dbgen.Queries) error {
			for _, step := range []func(context.Context, []uuid.UUID, []uuid.UUID) error{q.DeleteListeners, q.ResetListeners, q.AddListeners} {
				if err := step(ctx, tenants, ids); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// ListenersToReview finds connectors that ReviewListeners would change, at most max.
func (s SystemSyncs) ListenersToReview(ctx context.Context, max int) ([]OwnedConnector, error) {
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

// WakeListeners retries the streams of connectors that wait for a credential.
func (s SystemSyncs) WakeListeners(ctx context.Context, moved ...OwnedConnector) error {
	tenants, ids := splitOwned(moved)
	return s.q.RetryUnauthorizedListeners(ctx, tenants, ids)
}

func splitOwned(owned []OwnedConnector) (tenants, ids []uuid.UUID) {
	for _, c := range owned {
		tenants, ids = append(tenants, c.Tenant.UUID), append(ids, c.ID.UUID)
	}
	return tenants, ids
}

// ClaimedStream is a stream that a process is to open.
type ClaimedStream struct {
	Tenant         connectors.TenantID
	Connector      connectors.ConnectorID
	Reason         connectors.ListenReason // why it waited
	Missed         bool                    // it was open before, and no sync was queued since it ended
	Failures       int                     // consecutive, for that reason
	UnchangedInRow int                     // consecutive notifications after which the list was unchanged
}

// ClaimStreams claims at most max due and unclaimed streams for a live process, except those it has open.
func (s SystemSyncs) ClaimStreams(ctx context.Context, id connectors.InstanceID, max int, open ...connectors.ConnectorID) ([]ClaimedStream, error) {
	rows, err := s.q.ClaimListeners(ctx, &id, connectorUUIDs(open), int32(max))
	if err != nil {
		return nil, err
	}
	claimed := make([]ClaimedStream, len(rows))
	for i, r := range rows {
		claimed[i] = ClaimedStream{Tenant: r.TenantID, Connector: r.ConnectorID, Reason: connectors.ListenReason(r.Reason), Missed: r.Missed, Failures: int(r.Failures), UnchangedInRow: int(r.Vain)}
	}
	return claimed, nil
}

// HeldStream is a claimed stream of a process.
type HeldStream struct {
	Tenant    connectors.TenantID
	Connector connectors.ConnectorID
	Stale     bool // the connector's settings or the credential changed since it was opened
}

// OwnedStreams lists the claimed streams of a process.
func (s SystemSyncs) OwnedStreams(ctx context.Context, id connectors.InstanceID) ([]HeldStream, error) {
	rows, err := s.q.OwnedListeners(ctx, &id)
	if err != nil {
		return nil, err
	}
	streams := make([]HeldStream, len(rows))
	for i, r := range rows {
		streams[i] = HeldStream{Tenant: r.TenantID, Connector: r.ConnectorID, Stale: r.Stale}
	}
	return streams, nil
}

// RetakeStreams claims the open streams of a process that was considered dead again, unless another took them.
// It returns those claimed.
func (s SystemSyncs) RetakeStreams(ctx context.Context, id connectors.InstanceID, open ...OwnedConnector) ([]OwnedConnector, error) {
	tenants, ids := splitOwned(open)
	rows, err := s.q.ReclaimListeners(ctx, &id, tenants, ids)
	if err != nil {
		return nil, err
	}
	kept := make([]OwnedConnector, len(rows))
	for i, r := range rows {
		kept[i] = OwnedConnector{Tenant: r.TenantID, ID: r.ConnectorID}
	}
	return kept, nil
}

// ReleaseStreams releases all streams of a stopping process.
func (s SystemSyncs) ReleaseStreams(ctx context.Context, id connectors.InstanceID) error {
	return s.q.ReleaseListeners(ctx, &id)
}
