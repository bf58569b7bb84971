package store

import (
	"context"

	"patchbay/internal/connectors"
	"patchbay/internal/store/dbgen"
)

// AgentTokens lists the tokens that people made for an agent, newest first, expired ones too.
func (t *Tenant) AgentTokens(ctx context.Context, agent connectors.AgentID, p Page) (List[connectors.AgentToken], error) {
	before, err := p.afterID("agent_tokens")
	if err != nil {
		return List[connectors.AgentToken]{}, err
	}
	rows, err := t.q.AgentTokens(ctx, dbgen.AgentTokensParams{TenantID: t.id, AgentID: agent, BeforeID: before, MaxRows: p.rows()})
	if err != nil {
		return List[connectors.AgentToken]{}, err
	}
	item := func(r dbgen.AgentTokensRow) connectors.AgentToken { return agentTokenOf(dbgen.CreateAgentTokenRow(r)) }
	return listOf(p, rows, item, "agent_tokens", func(r dbgen.AgentTokensRow) []string { return []string{r.ID.String()} }), nil
}

// CreateAgentToken stores a token of an agent.
func (t *Tenant) CreateAgentToken(ctx context.Context, n NewAgentToken) (connectors.AgentToken, error) {
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
	return agentTokenOf(row), nil
}

// DeleteAgentToken ends a token for good, and tells which it was.
func (t *Tenant) DeleteAgentToken(
	ctx context.Context, agent connectors.AgentID, id connectors.AgentTokenID,
) (connectors.AgentToken, error) {
	row, err := t.q.DeleteAgentToken(ctx, t.id, agent, id)
	if err != nil {
		return connectors.AgentToken{}, found(err, "token")
	}
	return agentTokenOf(dbgen.CreateAgentTokenRow(row)), t.says(nil, "token", id)
}

// AgentToken finds a token in any tenant. An expired one is found, too: Token says so.
func (s *System) AgentToken(ctx context.Context, id connectors.AgentTokenID) (StoredAgentToken, error) {
	r, err := s.q.AgentToken(ctx, id)
	if err != nil {
		return StoredAgentToken{}, found(err, "token")
	}
	return StoredAgentToken{
		Tenant: r.TenantID,
		Token: agentTokenOf(dbgen.CreateAgentTokenRow{
			ID: r.ID, AgentID: r.AgentID, Name: r.Name, Prefix: r.Prefix,
			CreatedAt: r.CreatedAt, ExpiresAt: r.ExpiresAt, LastUsedAt: r.LastUsedAt,
		}),
		SecretMAC: r.SecretMac,
		Resource:  text(r.Resource),
		Client:    r.AgentClientID,
	}, nil
}

// TouchAgentToken notes that a token was used, at most once a minute.
func (s *System) TouchAgentToken(ctx context.Context, id connectors.AgentTokenID) error {
	return s.q.TouchAgentToken(ctx, id)
}

func agentTokenOf(r dbgen.CreateAgentTokenRow) connectors.AgentToken {
	return connectors.AgentToken{
		ID:         r.ID,
		AgentID:    r.AgentID,
		Name:       r.Name,
		Prefix:     r.Prefix,
		CreatedAt:  r.CreatedAt.UTC(),
		ExpiresAt:  utc(r.ExpiresAt),
		LastUsedAt: utc(r.LastUsedAt),
	}
}
