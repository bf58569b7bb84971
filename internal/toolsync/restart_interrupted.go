package toolsync

import (
	"context"

	"patchbay/internal/connectors"
)

// RestartInterrupted starts a new run for one that was interrupted with its process. It does nothing if the run ended
// otherwise, or the connector was synced since.
func (s *Syncer) RestartInterrupted(ctx context.Context, tenant connectors.TenantID, id connectors.SyncRunID) error {
	st := s.store.Tenant(tenant)
	cut, err := st.Syncs().Get(ctx, id)
	if err != nil || cut.ErrorCode != CodeInterrupted || cut.FinishedAt == nil {
		return err
	}
	c, err := st.Connectors().Get(ctx, connectors.Ref(cut.ConnectorID.String()))
	if err != nil || c.ToolsLastSyncedAt != nil && c.ToolsLastSyncedAt.After(*cut.FinishedAt) {
		return err
	}
	req := Request{Connector: connectors.Ref(c.ID.String()), Trigger: cut.Trigger}
	if cut.AgentID != nil {
		agent := connectors.Ref(cut.AgentID.String())
		req.Agent = &agent
	}
	_, err = s.Sync(ctx, tenant, req)
	return err
}
