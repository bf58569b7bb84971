package toolsync

import (
	"context"

	"patchbay/internal/connectors"
)

// SyncAgain performs anew what was begun and cut off with its process: a run of its own, the row of the first says how that ended. It does
// nothing where the run ended otherwise, or the connector was synced since.
func (s *Syncer) SyncAgain(ctx context.Context, tenant connectors.TenantID, id connectors.SyncRunID) error {
	st := s.store.Tenant(tenant)
	cut, err := st.SyncRun(ctx, id)
	if err != nil || cut.ErrorCode != CodeInterrupted || cut.FinishedAt == nil {
		return err
	}
	c, err := st.Connector(ctx, connectors.Ref(cut.ConnectorID.String()))
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
