package store

import (
	"context"

	"patchbay/internal/connectors"
	"patchbay/internal/store/dbgen"
)

// Tokens lists the tokens that people made for an agent, newest first, including expired ones.
func (t Agents) Tokens(ctx context.Context, agent connectors.AgentID, p Page) (List[connectors.AgentToken], error) {
	before, err := p.afterID("agent_tokens")
	if err != nil {
		return List[connectors.AgentToken]{}, err
	}
	rows, err := t.q.AgentTokens(ctx, dbgen.AgentTokensParams{TenantID: t.id, AgentID: agent, BeforeID: before, MaxRows: p.rowLimit()})
	if err != nil {
		return List[connectors.AgentToken]{}, err
	}
	item := func(r dbgen.AgentTokensRow) connectors.AgentToken { return toAgentToken(dbgen.CreateAgentTokenRow(r)) }
	return newList(p, rows, item, "agent_tokens", func(r dbgen.AgentTokensRow) []string { return []string{r.ID.String()} }), nil
}

// CreateToken stores a token of an agent. It ends the agent's managed accounts.
func (t Agents) CreateToken(ctx context.Context, n NewAgentToken) (connectors.AgentToken, error) {
	row, err := t.q.CreateAgentToken(ctx, dbgen.CreateAgentTokenParams{
		TenantID:  t.id,
		ID:        n.ID,
		AgentID:   n.AgentID,
		Name:      n.Name,
		Prefix:    n.Prefix,
		SecretMac: n.SecretMAC,
		ExpiresAt: n.ExpiresAt,
	})
	if err != nil {
		return connectors.AgentToken{}, err
	}
	return toAgentToken(row), t.endManagedAccounts(ctx, n.AgentID, nil)
}

// DeleteToken deletes a token and returns it.
func (t Agents) DeleteToken(
	ctx context.Context, agent connectors.AgentID, id connectors.AgentTokenID,
) (connectors.AgentToken, error) {
	row, err := t.q.DeleteAgentToken(ctx, t.id, agent, id)
	if err != nil {
		return connectors.AgentToken{}, rowError(err, "token")
	}
	return toAgentToken(dbgen.CreateAgentTokenRow(row)), t.notifyChange(nil, "token", id)
}

// AgentToken finds a token of any tenant, including expired ones.
func (s SystemSessions) AgentToken(ctx context.Context, id connectors.AgentTokenID) (StoredAgentToken, error) {
	r, err := s.q.AgentToken(ctx, id)
	if err != nil {
		return StoredAgentToken{}, rowError(err, "token")
	}
	return StoredAgentToken{
		Tenant: r.TenantID,
		Token: toAgentToken(dbgen.CreateAgentTokenRow{
			ID: r.ID, AgentID: r.AgentID, Name: r.Name, Prefix: r.Prefix,
			CreatedAt: r.CreatedAt, ExpiresAt: r.ExpiresAt, LastUsedAt: r.LastUsedAt,
		}),
		SecretMAC: r.SecretMac,
		Resource:  textOrEmpty(r.Resource),
		Client:    r.AgentClientID,
		Workload:  r.AgentWorkloadID,
		Key:       textOrEmpty(r.KeyThumbprint),
	}, nil
}

// TouchAgentToken records the last use of a token, at most once a minute.
func (s SystemSessions) TouchAgentToken(ctx context.Context, id connectors.AgentTokenID) error {
	return s.q.TouchAgentToken(ctx, id)
}

func toAgentToken(r dbgen.CreateAgentTokenRow) connectors.AgentToken {
	return connectors.AgentToken{
		ID:         r.ID,
		AgentID:    r.AgentID,
		Name:       r.Name,
		Prefix:     r.Prefix,
		CreatedAt:  r.CreatedAt.UTC(),
		ExpiresAt:  toUTC(r.ExpiresAt),
		LastUsedAt: toUTC(r.LastUsedAt),
	}
}
