package connect

import (
	"context"
	"log/slog"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// target is what a grant is for: a connector, and per agent one of the tenant's agents.
type target struct {
	tenant    connectors.TenantID
	connector connectors.Connector
	agent     *connectors.Agent        // nil: the shared credential
	account   string                   // its name; empty: the owner's only one
	accountID *connectors.CredentialID // the account that may be replaced; nil: none had the name
}

// findTarget reads a target and fails if no account can be connected to it.
func findTarget(ctx context.Context, tx *store.Tenant, tenant connectors.TenantID, c connectors.Ref, agent *connectors.Ref) (target, error) {
	p := target{tenant: tenant}
	var err error
	if p.connector, err = tx.Connectors().Get(ctx, c); err != nil {
		return target{}, err
	}
	if agent != nil {
		found, err := tx.Agents().Get(ctx, *agent)
		if err != nil {
			return target{}, err
		}
		p.agent = &found
	}
	return p, p.checkTakesGrant()
}

// findOwnTarget finds a target that the actor may manage.
func (b *Broker) findOwnTarget(ctx context.Context, a auth.Actor, c connectors.Ref, agent *connectors.Ref) (target, error) {
	if err := a.Require(connectors.PermOperate); err != nil {
		return target{}, err
	}
	if agent == nil {
		if err := a.Require(connectors.PermManage); err != nil {
			return target{}, err
		}
	}
	p, err := findTarget(ctx, b.tenantStore(a.Tenant.ID), a.Tenant.ID, c, agent)
	if err != nil {
		return target{}, err
	}
	return p, a.RequireAccount(ctx, b.tenantStore(p.tenant).Agents(), p.agentID())
}

// findDisconnectTarget finds a target that the actor may disconnect.
func (b *Broker) findDisconnectTarget(ctx context.Context, a auth.Actor, c connectors.Ref, agent *connectors.Ref) (target, error) {
	if agent == nil || a.UserID == nil {
		return b.findOwnTarget(ctx, a, c, agent)
	}
	p, err := findTarget(ctx, b.tenantStore(a.Tenant.ID), a.Tenant.ID, c, agent)
	if err != nil {
		return target{}, err
	}
	return p, a.RequireDisconnect(ctx, b.tenantStore(p.tenant).Agents(), p.agentID())
}

// toRefs returns references to connector and agent by id.
func toRefs(c connectors.ConnectorID, agent *connectors.AgentID) (connectors.Ref, *connectors.Ref) {
	if agent == nil {
		return connectors.Ref(c.String()), nil
	}
	ref := connectors.Ref(agent.String())
	return connectors.Ref(c.String()), &ref
}

// checkTakesGrant fails if the connector uses no grants.
func (t target) checkTakesGrant() error {
	perAgent := t.connector.CredentialMode == connectors.CredentialPerAgent
	switch {
	case t.connector.Auth.Type != connectors.AuthOAuth2:
		return fault.Errorf(fault.Conflict, "The connector %q doesn't use OAuth. Choose it in the settings.", t.connector.Name)
	case perAgent && t.agent == nil:
		return fault.Errorf(fault.Conflict, "Connect the account for an agent: %q has one per agent.", t.connector.Name)
	case !perAgent && t.agent != nil:
		return fault.Errorf(fault.Conflict, "Connect the account on the connector %q: all agents share it.", t.connector.Name)
	}
	return nil
}

func (t target) agentID() *connectors.AgentID {
	if t.agent == nil {
		return nil
	}
	return &t.agent.ID
}

// auditSubject returns the audited state of the account.
func (t target) auditSubject() store.StateReader {
	return store.OfAccount(t.connector.ID, t.agentID(), t.account)
}

// shownAccount is the account's name; empty: it is the owner's only one.
func (t target) shownAccount() string {
	if t.account == connectors.DefaultAccount {
		return ""
	}
	return t.account
}

// describeEvent adds connector and agent to an audit event.
func (t target) describeEvent(e store.Event) store.Event {
	e.Target = t.connector.Slug
	e.Detail = map[string]any{"connector_id": t.connector.ID.String()}
	if t.agent != nil {
		e.Detail["agent_id"], e.Detail["agent"] = t.agent.ID.String(), t.agent.Slug
	}
	if name := t.shownAccount(); name != "" {
		e.Detail["account"] = name
	}
	return e
}

func (t target) logAttrs() []any {
	all := []any{slog.String("tenant_id", t.tenant.String()), slog.String("connector_id", t.connector.ID.String())}
	if t.agent != nil {
		all = append(all, slog.String("agent_id", t.agent.ID.String()))
	}
	return all
}

// newStarter returns the stored form of the actor.
func newStarter(a auth.Actor) store.Starter {
	return store.Starter{Type: string(a.Kind), ID: a.ID(), Name: a.Name}
}
