package toolsync

import (
	"context"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// Queue stores a run to be performed by a worker. Where one of that connector waits already, that one is returned.
func (s *Syncer) Queue(ctx context.Context, tenant connectors.TenantID, req Request) (connectors.SyncRun, error) {
	st := s.store.Tenant(tenant)
	c, err := st.Connector(ctx, req.Connector)
	if err != nil {
		return connectors.SyncRun{}, err
	}
	agent, err := agentID(ctx, st, req.Agent)
	if err != nil {
		return connectors.SyncRun{}, err
	}
	if !c.Enabled {
		return connectors.SyncRun{}, disabled(c)
	}
	return st.QueueSync(ctx, store.NewRun{ConnectorID: c.ID, AgentID: agent, Trigger: req.Trigger, Asked: req.asked(c)})
}

// QueueAll stores a run of every enabled connector that has none waiting, and says how many. asked is the
// audit log's entry of whoever asks for it.
func (s *Syncer) QueueAll(ctx context.Context, tenant connectors.TenantID, trigger connectors.SyncTrigger, asked *store.Event) (int, error) {
	return s.store.Tenant(tenant).QueueAllSyncs(ctx, trigger, asked)
}

// Abandon closes a queued run that could not be performed, so that it blocks no later one.
func (s *Syncer) Abandon(ctx context.Context, tenant connectors.TenantID, id connectors.SyncRunID, cause error) {
	s.close(ctx, tenant, id, fault.Wrap(fault.Internal, cause, "Something went wrong on our side."), store.Seen{})
}
