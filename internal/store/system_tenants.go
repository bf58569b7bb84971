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

// CreateTenant makes a tenant. Without a slug one is made of the name, and made unique; a given slug that is taken is a
// Conflict. That it was made is the first entry of its audit log, with made's actor; nil: it is not on record.
func (s *System) CreateTenant(ctx context.Context, name, slug string, made *Event) (connectors.Tenant, error) {
	base, tries := slug, 1
	if slug == "" {
		base, tries = connectors.Slug(name, "tenant"), maxSlugTries
	}
	for n := 1; n <= tries; n++ {
		row, err := s.createTenant(ctx, numbered(base, n), name, made)
		if err == nil {
			return tenantOf(row), nil
		}
		if !errors.Is(err, pgx.ErrNoRows) {
			return connectors.Tenant{}, err
		}
	}
	f := fault.Errorf(fault.Conflict, "A tenant with the slug %q exists already.", base)
	f.Fields = []fault.Field{{Location: "slug", Message: f.Message}}
	return connectors.Tenant{}, f
}

// createTenant makes a tenant and its keys.
func (s *System) createTenant(ctx context.Context, slug, name string, made *Event) (dbgen.Tenant, error) {
	have := s.keys.now.Load()
	row, err := s.insertTenant(ctx, slug, name, made, have)
	if errors.Is(err, errRetiredKey) { // by the next rotation, if not by the tenant's first secret
		row, err = s.insertTenant(ctx, slug, name, made, nil)
	}
	return row, err
}

// insertTenant makes a tenant, with keys where the installation's are given and each tenant has its own, and puts that on record.
func (s *System) insertTenant(ctx context.Context, slug, name string, made *Event, have *keys) (row dbgen.Tenant, err error) {
	err = s.tx(ctx, func(tx *System) error {
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
		return tx.tenant(row.ID).RecordChange(ctx, e, nil, OfTenant())
	})
	return row, err
}

// DeleteTenant deletes a tenant and all that is its own, people who are in no other one among it, in one transaction, however long that takes, before
// which go the calls that are old enough to go at any time. Nobody waits for one of its calls to be written who is waited for here. An act of the tenant
// that is under way is waited for, five seconds at most: after that it is busy.
// Its keys go with it: what they have sealed does not open any more, wherever a copy lies, but by a backup that has the keys, too.
func (s *System) DeleteTenant(ctx context.Context, id connectors.TenantID) error {
	if err := s.deleteOldCalls(ctx, id); err != nil {
		return err
	}
	return s.tx(ctx, func(tx *System) error {
		if err := tx.q.TakeAnyTime(ctx); err != nil {
			return err
		}
		if err := tx.q.HoldActs(ctx, id.UUID); err != nil { // an act of the tenant holds some of what is its own, and then the tenant
			return err
		}
		people, err := tx.q.PeopleOfTenant(ctx, id)
		if err != nil {
			return err
		}
		if err := tx.q.HoldTenant(ctx, id); err != nil {
			return err
		}
		if err := tx.q.DeleteCallsOfTenant(ctx, id); err != nil {
			return err
		}
		n, err := tx.q.DeleteTenant(ctx, id)
		if err := touched(n, err, "tenant"); err != nil {
			return err
		}
		ids := make([]uuid.UUID, len(people))
		for i, p := range people {
			ids[i] = p.UUID
		}
		return tx.q.ForgetPeopleWithoutTenant(ctx, ids)
	})
}

// deleteOldCalls deletes the tenant's calls of more than 30 days, the least that a history has: that they go is on record, and no call is missed.
func (s *System) deleteOldCalls(ctx context.Context, id connectors.TenantID) error {
	const days, slice = 30, 1000
	before, last := idFrom(time.Now().AddDate(0, 0, -days)), uuid.UUID{}
	for {
		r, err := s.q.SweepCalls(ctx, dbgen.SweepCallsParams{TenantID: id, AfterID: last, BeforeID: before, MaxRows: slice})
		if err != nil || r.Gone < slice {
			return err
		}
		last = r.Last
	}
}

// numbered is base for 1, and base-2, base-3 … after it, within the length of a slug.
func numbered(base string, n int) string {
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
		all[i] = tenantOf(r)
	}
	return all, nil
}

// TenantByRef finds a tenant by id or slug.
func (s *System) TenantByRef(ctx context.Context, ref string) (connectors.Tenant, error) {
	id, slug, ok := refParts(connectors.Ref(ref))
	if !ok {
		return connectors.Tenant{}, missing("tenant")
	}
	if id != nil {
		row, err := s.q.Tenant(ctx, connectors.TenantID{UUID: *id})
		return tenantOf(row), found(err, "tenant")
	}
	row, err := s.q.TenantBySlug(ctx, *slug)
	return tenantOf(row), found(err, "tenant")
}

// HasOwner tells whether a tenant has an owner.
func (s *System) HasOwner(ctx context.Context, id connectors.TenantID) (bool, error) {
	return s.q.HasOwner(ctx, id)
}

// SaveSetupLink stores the hash of a link at which the tenant gets its first owner.
func (s *System) SaveSetupLink(ctx context.Context, id connectors.TenantID, hash []byte) error {
	return s.q.SaveSetupLink(ctx, id, hash)
}

// SetupLink finds the tenant of a link that can still be used.
func (s *System) SetupLink(ctx context.Context, hash []byte) (connectors.TenantID, error) {
	id, err := s.q.SetupLink(ctx, hash)
	return id, found(err, "setup link")
}

// TakeSetupLink makes the tenant's first owner, whatever role m has, and ends all links of the tenant, and puts it on record as event says. A
// link works once, and of several that are used at the same time one does.
func (s *System) TakeSetupLink(ctx context.Context, hash []byte, m NewMember, event func(connectors.Member) Event) (connectors.TenantID, connectors.Member, error) {
	var tenant connectors.TenantID
	var member connectors.Member
	err := s.tx(ctx, func(tx *System) error {
		id, err := tx.SetupLink(ctx, hash)
		if err != nil {
			return err
		}
		// The others wait here, and find their links gone.
		if _, err := tx.q.LockTenant(ctx, id); err != nil {
			return err
		}
		if _, err := tx.SetupLink(ctx, hash); err != nil {
			return err
		}
		if err := tx.q.DropSetupLinks(ctx, id); err != nil {
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
		tenant, member = id, memberOf(row)
		return tx.tenant(id).RecordChange(ctx, event(member), nil, OfMember(user))
	})
	if err != nil {
		return connectors.TenantID{}, connectors.Member{}, err
	}
	return tenant, member, nil
}
