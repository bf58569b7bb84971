package toolsync

import (
	"context"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// Queue stores a run for a worker. If the connector already has a queued run, that one is returned.
func (s *Syncer) Queue(ctx context.Context, tenant connectors.TenantID, req Request) (connectors.SyncRun, error) {
	st := s.store.Tenant(tenant)
	c, err := st.Connectors().Get(ctx, req.Connector)
	if err != nil {
		return connectors.SyncRun{}, err
	}
	agent, err := findAgentID(ctx, st.Agents(), req.Agent)
	if err != nil {
		return connectors.SyncRun{}, err
	}
	if !c.Enabled {
		return connectors.SyncRun{}, disabledError(c)
	}
	return st.Syncs().Queue(ctx, store.NewRun{ConnectorID: c.ID, AgentID: agent, Trigger: req.Trigger, AuditEvent: req.auditEvent(c)})
}

// QueueAll queues a run of every enabled connector that has none queued, and returns their number. auditEvent
// is nil for unaudited requests.
func (s *Syncer) QueueAll(ctx context.Context, tenant connectors.TenantID, trigger connectors.SyncTrigger, auditEvent *store.Event) (int, error) {
	return s.store.Tenant(tenant).Syncs().QueueAll(ctx, trigger, auditEvent)
}

// FailQueued ends a queued run that could not be performed, so that it does not block later ones.
func (s *Syncer) FailQueued(ctx context.Context, tenant connectors.TenantID, id connectors.SyncRunID, cause error) {
	s.recordFailure(ctx, tenant, id, fault.Wrap(fault.Internal, cause, "Something went wrong on our side."), store.ServerObservation{})
}
