package manage

import (
	"context"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

// AgentSetup describes an agent to create with access and a token.
type AgentSetup struct {
	Name       string
	Approval   connectors.ApprovalMode // empty: the tenant's default
	Connectors []connectors.Ref        // all of their tools are granted; at least one
}

// SetUpAgent creates an enabled agent, its grants and a token in one transaction. The token's text is returned once.
func (r *Registry) SetUpAgent(ctx context.Context, a auth.Actor, s AgentSetup) (connectors.Agent, secret.Text, error) {
	if err := a.Require(connectors.PermManage); err != nil {
		return connectors.Agent{}, "", err
	}
	agent := connectors.Agent{Name: s.Name, Approval: s.Approval, Enabled: true}
	if len(s.Connectors) == 0 {
		return agent, "", fault.InvalidFields(append(agent.Normalized().Validate(), fault.Field{Location: "connector", Message: "Select at least one connector."})...)
	}
	var text secret.Text
	agent, err := r.createAgent(ctx, a, agent, func(tx *store.Tenant, made connectors.Agent) (err error) {
		for _, ref := range s.Connectors {
			target, err := tx.Connectors().Get(ctx, ref)
			if err != nil {
				return err
			}
			if err := setGrant(ctx, tx, a, made, target, connectors.Grant{AllTools: true}); err != nil {
				return err
			}
		}
		_, text, err = r.insertToken(ctx, tx, a, made, TokenRequest{})
		return err
	})
	return agent, text, err
}
