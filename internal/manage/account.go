package manage

import (
	"context"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/store"
)

// AccountChange changes an account. Empty fields change nothing.
type AccountChange struct {
	Name  string // new name
	Syncs bool   // syncs of the connector use it from now on
}

// ChangeAccount renames an account, also in the grants that bind it, or makes syncs use it.
func (r *Registry) ChangeAccount(ctx context.Context, a auth.Actor, of AccountRef, change AccountChange) error {
	if err := requireCredentialWrite(a, of.Agent); err != nil {
		return err
	}
	if change.Syncs { // the tools of all agents come from it
		if err := a.Require(connectors.PermManage); err != nil {
			return err
		}
	}
	return r.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		owner, err := findOwner(ctx, tx, of.Connector, of.Agent)
		if err != nil {
			return err
		}
		owner.account = of.Name
		if err := owner.checkMode(); err != nil {
			return err
		}
		if err := a.RequireAccount(ctx, tx.Agents(), owner.agentID()); err != nil {
			return err
		}
		before, err := tx.LockAndReadState(ctx, owner.auditSubject())
		if err != nil {
			return err
		}
		if err := a.LockAccount(ctx, tx, owner.agentID()); err != nil { // the lock may have waited
			return err
		}
		var bound []string
		if change.Name != "" {
			if err := tx.Accounts().Rename(ctx, owner.connector.ID, owner.agentID(), of.Name, change.Name); err != nil {
				return err
			}
			owner.account = change.Name
			if bound, err = tx.Accounts().BoundAgents(ctx, owner.connector.ID, owner.agentID(), change.Name); err != nil {
				return err
			}
		}
		if err := owner.nameAccount(ctx, tx); err != nil {
			return err
		}
		if change.Syncs {
			if err := tx.Syncs().ChooseForSyncs(ctx, owner.connector.ID, owner.agentID(), owner.account); err != nil {
				return err
			}
		}
		event := owner.auditEvent(a, "credential.set")
		if len(bound) > 0 {
			event.Detail["bound_agents"] = bound
		}
		return tx.RecordChange(ctx, event, before, owner.auditSubject())
	})
}
