package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store/dbgen"
)

// maxSlugTries bounds the search for a free slug.
const maxSlugTries = 1000

// CreateTenant makes a tenant. An empty slug is derived from the name and made unique; a given slug in use is a
// Conflict. made is the first audit entry; nil: none.
func (s *System) CreateTenant(ctx context.Context, name, slug string, made *Event) (connectors.Tenant, error) {
	base, tries := slug, 1
	if slug == "" {
		base, tries = connectors.Slug(name, "tenant"), maxSlugTries
	}
	for n := 1; n <= tries; n++ {
		row, err := s.createTenant(ctx, numberedSlug(base, n), name, made)
		if err == nil {
			return toTenant(row), nil
		}
		if !errors.Is(err, pgx.ErrNoRows) {
			return connectors.Tenant{}, err
		}
	}
	f := fault.Errorf(fault.Conflict, "The tenant slug %q is taken.", base)
	f.Fields = []fault.Field{{Location: "slug", Message: f.Message}}
	return connectors.Tenant{}, f
}

// MarkSample marks a tenant as sample data.
func (s *System) MarkSample(ctx context.Context, id connectors.TenantID) error {
	n, err := s.q.MarkSample(ctx, id)
	return affectedError(n, err, "tenant")
}

// createTenant makes a tenant and its keys.
func (s *system) createTenant(ctx context.Context, slug, name string, made *Event) (dbgen.Tenant, error) {
	have := s.keys.current.Load()
	row, err := s.insertTenant(ctx, slug, name, made, have)
	if errors.Is(err, errRetiredKey) { // by the next rotation, or with the tenant's first secret
		row, err = s.insertTenant(ctx, slug, name, made, nil)
	}
	return row, err
}

// insertTenant makes a tenant with its audit entry, and with keys if have is given and tenants have their own.
func (s *system) insertTenant(ctx context.Context, slug, name string, made *Event, have *keyringSnapshot) (row dbgen.Tenant, err error) {
	err = s.inTx(ctx, func(tx *System) error {
		if row, err = tx.q.CreateTenant(ctx, connectors.TenantID{UUID: newID()}, slug, name); err != nil {
			return err
		}
		if have != nil && have.perTenant {
			if err := addTenantKeys(ctx, tx.q, have.Sealer, row.ID); err != nil {
				return err
			}
		}
		if made == nil {
			return nil
		}
		e := *made
		e.Action, e.Target = "tenant.create", slug
		return tx.tenantInTx(row.ID).RecordChange(ctx, e, nil, OfTenant())
	})
	return row, err
}

// DeleteTenant deletes a tenant, its rows and people without another tenant in one transaction. Calls older
// than the minimal history are deleted before. It takes locks in an order that no writer of calls waits on in
// reverse. It waits at most five seconds for an action in progress, then fails as busy. Its keys are deleted
// with it, so copies of its secrets stay unreadable, except with a backup that includes the keys.
func (s *System) DeleteTenant(ctx context.Context, id connectors.TenantID) error {
	if err := s.deleteOldCalls(ctx, id); err != nil {
		return err
	}
	return s.inTx(ctx, func(tx *System) error {
		if err := tx.q.DisableStatementTimeout(ctx); err != nil {
			return err
		}
		if err := tx.q.LockAuditedActions(ctx, id.UUID); err != nil { // an action locks some of the tenant's rows, and then the tenant
			return err
		}
		people, err := tx.q.LockUsersOfTenant(ctx, id)
		if err != nil {
			return err
		}
		if err := tx.q.LockTenantForDelete(ctx, id); err != nil {
			return err
		}
		if err := tx.q.DeleteCallsOfTenant(ctx, id); err != nil {
			return err
		}
		n, err := tx.q.DeleteTenant(ctx, id)
		if err := affectedError(n, err, "tenant"); err != nil {
			return err
		}
		ids := make([]uuid.UUID, len(people))
		for i, p := range people {
			ids[i] = p.UUID
		}
		return tx.q.DeleteUsersWithoutTenant(ctx, ids)
	})
}

// deleteOldCalls deletes calls of more than 30 days, the minimal history. Their removal is recorded, so no
// check misses them.
func (s *system) deleteOldCalls(ctx context.Context, id connectors.TenantID) error {
	const days, slice = 30, 1000
	before, last := minIDAt(time.Now().AddDate(0, 0, -days)), uuid.UUID{}
	for {
		r, err := s.q.SweepCalls(ctx, dbgen.SweepCallsParams{TenantID: id, AfterID: last, BeforeID: before, MaxRows: slice})
		if err != nil || r.Gone < slice {
			return err
		}
		last = r.Last
	}
}

// numberedSlug returns base for n = 1, then base-2, base-3 …, within the length of a slug.
func numberedSlug(base string, n int) string {
	if n == 1 {
		return base
	}
	suffix := fmt.Sprintf("-%d", n)
	const longest = 48
	if len(base)+len(suffix) > longest {
		base = strings.TrimRight(base[:longest-len(suffix)], "-")
	}
	return base + suffix
}

// Tenants lists all tenants by name.
func (s *System) Tenants(ctx context.Context) ([]connectors.Tenant, error) {
	rows, err := s.q.Tenants(ctx)
	if err != nil {
		return nil, err
	}
	all := make([]connectors.Tenant, len(rows))
	for i, r := range rows {
		all[i] = toTenant(r)
	}
	return all, nil
}

// TenantByRef finds a tenant by id or slug.
func (s *System) TenantByRef(ctx context.Context, ref string) (connectors.Tenant, error) {
	id, slug, ok := refParts(connectors.Ref(ref))
	if !ok {
		return connectors.Tenant{}, newNotFound("tenant")
	}
	if id != nil {
		row, err := s.q.Tenant(ctx, connectors.TenantID{UUID: *id})
		return toTenant(row), rowError(err, "tenant")
	}
	row, err := s.q.TenantBySlug(ctx, *slug)
	return toTenant(row), rowError(err, "tenant")
}

// HasOwner reports whether a tenant has an owner.
func (s *System) HasOwner(ctx context.Context, id connectors.TenantID) (bool, error) {
	return s.q.HasOwner(ctx, id)
}

// SaveSetupLink stores the hash of a link that makes the tenant's first owner.
func (s *System) SaveSetupLink(ctx context.Context, id connectors.TenantID, hash []byte) error {
	return s.q.SaveSetupLink(ctx, id, hash)
}

// SetupLink finds the tenant of a valid link.
func (s *System) SetupLink(ctx context.Context, hash []byte) (connectors.TenantID, error) {
	id, err := s.q.SetupLink(ctx, hash)
	return id, rowError(err, "setup link")
}

// TakeSetupLink makes the tenant's first owner, whatever m.Role, deletes all setup links of the tenant and
// records event. Of concurrent calls one succeeds.
func (s *System) TakeSetupLink(ctx context.Context, hash []byte, m NewMember, event func(connectors.Member) Event) (connectors.TenantID, connectors.Member, error) {
	var tenant connectors.TenantID
	var member connectors.Member
	err := s.inTx(ctx, func(tx *System) error {
		id, err := tx.SetupLink(ctx, hash)
		if err != nil {
			return err
		}
		// Concurrent calls wait here, and then find their links deleted.
		if _, err := tx.q.LockTenant(ctx, id); err != nil {
			return err
		}
		if _, err := tx.SetupLink(ctx, hash); err != nil {
			return err
		}
		if err := tx.q.DeleteSetupLinks(ctx, id); err != nil {
			return err
		}
		m.Role = connectors.RoleOwner
		user, err := addMember(ctx, tx.q, id, m)
		if err != nil {
			return err
		}
		row, err := tx.q.Member(ctx, id, user)
		if err != nil {
			return err
		}
		tenant, member = id, toMember(row)
		return tx.tenantInTx(id).RecordChange(ctx, event(member), nil, OfMember(user))
	})
	if err != nil {
		return connectors.TenantID{}, connectors.Member{}, err
	}
	return tenant, member, nil
}
