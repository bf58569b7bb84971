package store

import (
	"cmp"
	"context"
	"slices"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store/dbgen"
)

// Access reads an agent with its grants, tools, items, skills and allowances in one round trip. Definitions are not
// included.
func (t Agents) Access(ctx context.Context, agent connectors.AgentID) (Access, error) {
	var (
		row        dbgen.Tenant
		self       dbgen.Agent
		reaches    []dbgen.AccessReachesRow
		tools      []dbgen.AccessToolsRow
		items      []dbgen.AccessItemsRow
		skills     []dbgen.AccessSkillsRow
		allowances []dbgen.ToolAllowance
	)
	err := t.scope.runReadBatch(ctx,
		func(q *dbgen.Queries) (err error) { row, err = q.Tenant(ctx, t.id); return rowError(err, "tenant") },
		func(q *dbgen.Queries) (err error) {
			self, err = q.AgentByRef(ctx, t.id, &agent.UUID, nil)
			return rowError(err, "agent")
		},
		func(q *dbgen.Queries) (err error) { reaches, err = q.AccessReaches(ctx, t.id, agent); return err },
		func(q *dbgen.Queries) (err error) { tools, err = q.AccessTools(ctx, t.id, agent); return err },
		func(q *dbgen.Queries) (err error) { items, err = q.AccessItems(ctx, t.id, agent); return err },
		func(q *dbgen.Queries) (err error) { skills, err = t.readAccessSkills(ctx, q, agent); return err },
		func(q *dbgen.Queries) (err error) { allowances, err = q.AccessAllowances(ctx, t.id, agent); return err },
	)
	if err != nil {
		return Access{}, err
	}
	var now time.Time
	if len(reaches) > 0 {
		now = reaches[0].Now
	}
	return Access{
		Tenant:     toTenant(row),
		Agent:      toAgent(self),
		Reaches:    toAccessReaches(reaches),
		Tools:      mapRows(tools, toAccessTool),
		Items:      mapRows(items, toAccessItem),
		Skills:     mapRows(skills, toAccessSkill),
		Allowances: mapRows(allowances, toAllowance),
		Now:        now,
	}, nil
}

// AcceptedDefinitions reads definitions by hash, as the upstream sent them. It fails with Conflict if they
// exceed most bytes in total.
func (t Agents) AcceptedDefinitions(ctx context.Context, hashes []connectors.Hash, most int64) (map[connectors.Hash][]byte, error) {
	rows, err := t.q.AcceptedDefinitions(ctx, most, t.id, hashKeys(hashes))
	if err != nil {
		return nil, err
	}
	raws := make(map[connectors.Hash][]byte, len(rows))
	for _, r := range rows {
		if r.Bytes > most {
			return nil, TooManyDefinitions()
		}
		raws[*toHash(r.Hash)] = r.Raw
	}
	return raws, nil
}

// TooManyDefinitions returns the Conflict for an agent with definitions above [MaxServedBytes].
func TooManyDefinitions() error {
	return fault.Errorf(fault.Conflict,
		"This agent's tool definitions exceed %d MiB. Grant it fewer tools.", MaxServedBytes>>20)
}

// GrantedConnectors returns the connectors that an agent was granted, by slug, including disabled ones: one for each account that
// the grant binds. DiscoveredTools is empty.
func (t Agents) GrantedConnectors(ctx context.Context, agent connectors.AgentID) ([]AccessConnector, error) {
	rows, err := t.q.AccessReaches(ctx, t.id, agent)
	return toAccessReaches(rows), err
}

func mapRows[R, T any](rows []R, item func(R) T) []T {
	all := make([]T, len(rows))
	for i, r := range rows {
		all[i] = item(r)
	}
	return all
}

func toAccessReaches(rows []dbgen.AccessReachesRow) []AccessConnector {
	all := make([]AccessConnector, 0, len(rows))
	for _, r := range rows {
		connector := toConnector(dbgen.ConnectorByRefRow{Connector: r.Connector, EnvNames: r.EnvNames, Status: string(r.Connector.Status)})
		granted := toAgentGrant(r.AgentGrant)
		if connector.Auth.Type == connectors.AuthNone && len(granted.Accounts) > 1 {
			granted.Accounts = nil
		}
		grants := granted.EachAccount()
		for i, grant := range grants {
			reach := AccessConnector{Slug: connector.Slug, Grant: grant, Ended: grant.HasEnded(r.Now), Connector: connector}
			if i < len(r.AccountIds) {
				reach.Account = connectors.CredentialID{UUID: r.AccountIds[i]}
			}
			if len(grants) > 1 {
				reach.Slug = connectors.ViewSlug(connector.Slug, grant.Account())
			}
			all = append(all, reach)
		}
	}
	slices.SortStableFunc(all, func(a, b AccessConnector) int { return cmp.Compare(a.Slug, b.Slug) }) // the database may collate differently
	return withoutDoubles(all)
}

// withoutDoubles removes all with a name that another one has by its hash, so that no call uses another account than its name says.
func withoutDoubles(sorted []AccessConnector) []AccessConnector {
	isDouble := func(i, j int) bool { return j >= 0 && j < len(sorted) && sorted[i].Slug == sorted[j].Slug }
	single := make([]AccessConnector, 0, len(sorted))
	for i, reach := range sorted {
		if !isDouble(i, i-1) && !isDouble(i, i+1) {
			single = append(single, reach)
		}
	}
	return single
}

func toAccessTool(r dbgen.AccessToolsRow) AccessTool {
	return AccessTool{
		ConnectorID: r.ConnectorID,
		Name:        r.Name,
		Accepted:    toHash(r.AcceptedHash),
		Review:      r.Review,
		Enabled:     r.Enabled,
		Removed:     r.Removed,
		Alias:       r.Alias,
		AgentText:   r.AgentText,
		Tags:        r.Tags,
		Quota:       toQuota(r.CallsPerMinute, r.CallsPerDay),
	}
}

func toAccessItem(r dbgen.AccessItemsRow) AccessItem {
	return AccessItem{ConnectorID: r.ConnectorID, Item: connectors.Item{Kind: r.Kind, Key: r.Key, Raw: r.Raw}}
}

func (t *tenant) readAccessSkills(ctx context.Context, q *dbgen.Queries, agent connectors.AgentID) ([]dbgen.AccessSkillsRow, error) {
	return q.AccessSkills(ctx, dbgen.AccessSkillsParams{TenantID: t.id, AgentID: agent, MaxSkills: MaxServedSkills, MaxBytes: MaxServedSkillBytes})
}

func toAccessSkill(r dbgen.AccessSkillsRow) AccessSkill {
	return AccessSkill{ConnectorID: r.ConnectorID, URI: r.Uri, Accepted: r.AcceptedRaw, OverLimit: r.OverLimit}
}

// CredentialFor reads the agent's account for a connector with a name; empty: the only one. agent nil: the shared one. Several are a Conflict
// of [TypeAccountRequired].
func (t Agents) CredentialFor(
	ctx context.Context, connector connectors.ConnectorID, agent *connectors.AgentID, name string,
) (connectors.Credential, error) {
	rows, err := t.credentialsByOwner(ctx, connector, agent, name)
	switch {
	case err != nil:
		return connectors.Credential{}, err
	case len(rows) == 0:
		return connectors.Credential{}, newNotFound("credential")
	case len(rows) > 1:
		names := make([]string, len(rows))
		for i, r := range rows {
			names[i] = r.Name
		}
		return connectors.Credential{}, newSeveralAccounts(names)
	}
	return rows[0], nil
}

// OfOwner returns an owner's accounts by name. agent nil: the shared ones.
func (t Accounts) OfOwner(ctx context.Context, connector connectors.ConnectorID, agent *connectors.AgentID) ([]connectors.Credential, error) {
	return t.credentialsByOwner(ctx, connector, agent, "")
}

func (t *tenant) credentialsByOwner(
	ctx context.Context, connector connectors.ConnectorID, agent *connectors.AgentID, name string,
) ([]connectors.Credential, error) {
	p := dbgen.CredentialsByOwnerParams{TenantID: t.id, ConnectorID: connector, AgentID: agent, MaxRows: maxAccounts}
	if name != "" {
		p.Name = &name
	}
	rows, err := t.q.CredentialsByOwner(ctx, p)
	return mapRows(rows, toOwnedCredential), err
}

func toOwnedCredential(r dbgen.CredentialsByOwnerRow) connectors.Credential {
	c := toCredential(dbgen.Credential{
		ID: r.ID, ConnectorID: r.ConnectorID, AgentID: r.AgentID, Name: r.Name, Type: r.Type, Origin: r.Origin,
		Status: connectors.CredentialStatus(r.Status), Account: r.Account, Scopes: r.Scopes, ExpiresAt: r.ExpiresAt,
		RefreshedAt: r.RefreshedAt, LastUsedAt: r.LastUsedAt, Error: r.Error, Version: r.Version,
		CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
	})
	c.Identity = decodeIdentity(r.Identity)
	return c
}
