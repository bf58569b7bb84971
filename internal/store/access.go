package store

import (
	"context"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store/dbgen"
)

// Access reads all that decides what an agent may see and call, but for the definitions themselves, in one round trip.
func (t *Tenant) Access(ctx context.Context, agent connectors.AgentID) (Access, error) {
	var (
		tenant     dbgen.Tenant
		self       dbgen.Agent
		reaches    []dbgen.AccessReachesRow
		tools      []dbgen.AccessToolsRow
		items      []dbgen.AccessItemsRow
		allowances []dbgen.AccessAllowancesRow
	)
	err := t.scope.readTogether(ctx,
		func(q *dbgen.Queries) (err error) { tenant, err = q.Tenant(ctx, t.id); return found(err, "tenant") },
		func(q *dbgen.Queries) (err error) {
			self, err = q.AgentByRef(ctx, t.id, &agent.UUID, nil)
			return found(err, "agent")
		},
		func(q *dbgen.Queries) (err error) { reaches, err = q.AccessReaches(ctx, t.id, agent); return err },
		func(q *dbgen.Queries) (err error) { tools, err = q.AccessTools(ctx, t.id, agent); return err },
		func(q *dbgen.Queries) (err error) { items, err = q.AccessItems(ctx, t.id, agent); return err },
		func(q *dbgen.Queries) (err error) { allowances, err = q.AccessAllowances(ctx, t.id, agent); return err },
	)
	if err != nil {
		return Access{}, err
	}
	return Access{
		Tenant:     tenantOf(tenant),
		Agent:      agentOf(self),
		Reaches:    each(reaches, accessReachOf),
		Tools:      each(tools, accessToolOf),
		Items:      each(items, accessItemOf),
		Allowances: each(allowances, allowanceOf),
	}, nil
}

// AcceptedDefinitions reads definitions by their hashes, as the upstream sent them. Where they have more than most bytes together, it
// returns a Conflict, and none is read.
func (t *Tenant) AcceptedDefinitions(ctx context.Context, hashes []connectors.Hash, most int64) (map[connectors.Hash][]byte, error) {
	rows, err := t.q.AcceptedDefinitions(ctx, most, t.id, hashKeys(hashes))
	if err != nil {
		return nil, err
	}
	raws := make(map[connectors.Hash][]byte, len(rows))
	for _, r := range rows {
		if r.Bytes > most {
			return nil, TooManyDefinitions()
		}
		raws[*hashOf(r.Hash)] = r.Raw
	}
	return raws, nil
}

// TooManyDefinitions is the Conflict of an agent that was granted more than [MaxServedBytes].
func TooManyDefinitions() error {
	return fault.Errorf(fault.Conflict,
		"The definitions of the tools that this agent was granted have more than %d MiB together. Grant it fewer tools.", MaxServedBytes>>20)
}

// GrantedConnectors are the connectors that an agent was granted, by their slugs, disabled ones too. Their DiscoveredTools are not
// filled in.
func (t *Tenant) GrantedConnectors(ctx context.Context, agent connectors.AgentID) ([]AccessReach, error) {
	rows, err := t.q.AccessReaches(ctx, t.id, agent)
	return each(rows, accessReachOf), err
}

func each[R, T any](rows []R, item func(R) T) []T {
	all := make([]T, len(rows))
	for i, r := range rows {
		all[i] = item(r)
	}
	return all
}

func accessReachOf(r dbgen.AccessReachesRow) AccessReach {
	return AccessReach{
		Grant:     agentGrantOf(r.AgentGrant),
		Connector: connectorOf(dbgen.ConnectorByRefRow{Connector: r.Connector, EnvNames: r.EnvNames}),
	}
}

func accessToolOf(r dbgen.AccessToolsRow) AccessTool {
	return AccessTool{
		ConnectorID: r.ConnectorID,
		Name:        r.Name,
		Accepted:    hashOf(r.AcceptedHash),
		Review:      r.Review,
		Enabled:     r.Enabled,
		Removed:     r.Removed,
		Alias:       r.Alias,
		AgentText:   r.AgentText,
		Quota:       quotaOf(r.CallsPerMinute, r.CallsPerDay),
	}
}

func accessItemOf(r dbgen.AccessItemsRow) AccessItem {
	return AccessItem{ConnectorID: r.ConnectorID, Item: connectors.Item{Kind: r.Kind, Key: r.Key, Raw: r.Raw}}
}

func allowanceOf(r dbgen.AccessAllowancesRow) connectors.Allowance {
	a := connectors.Allowance{ConnectorID: r.ConnectorID, Tool: r.Tool, Until: r.Until.UTC(), GrantedBy: r.GrantedBy}
	copy(a.Definition[:], r.DefinitionHash)
	return a
}

// CredentialOf tells of the credential of a connector, or of an agent for it, where agent is not nil.
func (t *Tenant) CredentialOf(
	ctx context.Context, connector connectors.ConnectorID, agent *connectors.AgentID,
) (connectors.Credential, error) {
	r, err := t.q.CredentialOf(ctx, t.id, connector, agent)
	if err != nil {
		return connectors.Credential{}, found(err, "credential")
	}
	return credentialOf(dbgen.Credential{
		ID: r.ID, ConnectorID: r.ConnectorID, AgentID: r.AgentID, Type: r.Type, Origin: r.Origin,
		Status: connectors.CredentialStatus(r.Status), Account: r.Account, Scopes: r.Scopes, ExpiresAt: r.ExpiresAt,
		RefreshedAt: r.RefreshedAt, LastUsedAt: r.LastUsedAt, Error: r.Error, Version: r.Version,
		CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
	}), nil
}
