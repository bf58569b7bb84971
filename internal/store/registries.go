package store

import (
	"context"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store/dbgen"
)

// Create stores a registry with its address's hash, under a new id.
func (t Registries) Create(ctx context.Context, r connectors.Registry, addressHash []byte) (made connectors.Registry, err error) {
	err = t.ensureTx(ctx, func(tx *Tenant) error {
		row, err := tx.q.CreateRegistry(ctx, dbgen.CreateRegistryParams{
			TenantID: tx.id, ID: connectors.RegistryID{UUID: newID()}, Name: cleanText(r.Name), AddressHash: addressHash,
			EveryConnector: r.EveryConnector, TokenRequired: r.TokenRequired,
		})
		if err != nil {
			return err
		}
		made = toRegistry(row, r.Agents)
		return tx.Registries().addAgents(ctx, made.ID, r.Agents)
	})
	return made, err
}

func (t Registries) addAgents(ctx context.Context, id connectors.RegistryID, slugs []string) error {
	if len(slugs) == 0 {
		return nil
	}
	n, err := t.q.AddRegistryAgents(ctx, t.id, id, slugs)
	if err == nil && int(n) != len(slugs) {
		err = fault.Errorf(fault.NotFound, "No such agent.")
	}
	return err
}

// List lists the tenant's registries, the oldest first.
func (t Registries) List(ctx context.Context, p Page) (List[connectors.Registry], error) {
	after, err := p.afterID("registries")
	if err != nil {
		return List[connectors.Registry]{}, err
	}
	rows, err := t.q.Registries(ctx, t.id, after, p.rowLimit())
	if err != nil {
		return List[connectors.Registry]{}, err
	}
	item := func(r dbgen.RegistriesRow) connectors.Registry { return toRegistry(r.Registry, r.Agents) }
	return newList(p, rows, item, "registries", func(r dbgen.RegistriesRow) []string { return []string{r.Registry.ID.String()} }), nil
}

// Count is how many registries the tenant has.
func (t Registries) Count(ctx context.Context) (int, error) {
	n, err := t.q.CountRegistries(ctx, t.id)
	return int(n), err
}

// Get reads one registry.
func (t Registries) Get(ctx context.Context, id connectors.RegistryID) (connectors.Registry, error) {
	row, err := t.q.Registry(ctx, t.id, id)
	return toRegistry(row.Registry, row.Agents), rowError(err, "registry")
}

// Update stores a registry's name and what it lists.
func (t Registries) Update(ctx context.Context, r connectors.Registry) error {
	return t.ensureTx(ctx, func(tx *Tenant) error {
		n, err := tx.q.UpdateRegistry(ctx, dbgen.UpdateRegistryParams{
			TenantID: tx.id, ID: r.ID, Name: cleanText(r.Name), EveryConnector: r.EveryConnector, TokenRequired: r.TokenRequired,
		})
		if err := affectedError(n, err, "registry"); err != nil {
			return err
		}
		if err := tx.q.DeleteRegistryAgents(ctx, tx.id, r.ID); err != nil {
			return err
		}
		return tx.Registries().addAgents(ctx, r.ID, r.Agents)
	})
}

// SetAddress replaces the hash of a registry's address. The old address ends at once.
func (t Registries) SetAddress(ctx context.Context, id connectors.RegistryID, addressHash []byte) error {
	n, err := t.q.SetRegistryAddress(ctx, addressHash, t.id, id)
	return affectedError(n, err, "registry")
}

// Delete deletes a registry. Its address ends at once.
func (t Registries) Delete(ctx context.Context, id connectors.RegistryID) error {
	n, err := t.q.DeleteRegistry(ctx, t.id, id)
	return affectedError(n, err, "registry")
}

// Touch records that a registry was read, at most once a minute.
func (t Registries) Touch(ctx context.Context, id connectors.RegistryID) error {
	return t.q.TouchRegistry(ctx, t.id, id)
}

// EntryFilter narrows down a registry's entries.
type EntryFilter struct {
	Agent     *connectors.AgentID // only what this agent holds a grant for, too; nil: any
	After     string              // slug of the entry before; empty: from the start
	Slug      string              // one entry; empty: all
	Namespace string              // of the entries' names, for Search
	Search    string              // part of "namespace/slug" or of the connector's name; empty: all
	Since     *time.Time          // only what was updated since; nil: all
	Limit     int
}

// Entries lists the enabled connectors of a registry by slug.
func (t Registries) Entries(ctx context.Context, r connectors.Registry, f EntryFilter) ([]connectors.RegistryEntry, error) {
	p := dbgen.RegistryServersParams{
		TenantID: t.id, RegistryID: r.ID, EveryConnector: r.EveryConnector, AfterSlug: f.After, Slug: f.Slug, Search: f.Search,
		Namespace: f.Namespace, UpdatedSince: f.Since, MaxRows: int32(f.Limit), //nolint:gosec // at most some hundreds
	}
	if f.Agent != nil {
		p.AgentID = &f.Agent.UUID
	}
	rows, err := t.q.RegistryServers(ctx, p)
	entries := make([]connectors.RegistryEntry, len(rows))
	for i, row := range rows {
		entries[i] = connectors.RegistryEntry{
			Slug: row.Slug, Name: row.Name, Description: row.Description, CreatedAt: row.CreatedAt.UTC(), UpdatedAt: row.UpdatedAt.UTC(), Definitions: row.Definitions,
		}
	}
	return entries, err
}

// Registry finds the registry at an address by the address's hash, without its agents. It fails with NotFound if
// there is none.
func (s SystemSessions) Registry(ctx context.Context, addressHash []byte) (connectors.TenantID, connectors.Registry, error) {
	row, err := s.q.RegistryByAddress(ctx, addressHash)
	return row.TenantID, toRegistry(row, nil), rowError(err, "registry")
}

func toRegistry(r dbgen.Registry, agents []string) connectors.Registry {
	return connectors.Registry{
		ID: r.ID, Name: r.Name, EveryConnector: r.EveryConnector, Agents: agents, TokenRequired: r.TokenRequired,
		CreatedAt: r.CreatedAt.UTC(), UpdatedAt: r.UpdatedAt.UTC(), RotatedAt: toUTC(r.RotatedAt), LastUsedAt: toUTC(r.LastUsedAt),
	}
}
