package store

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store/dbgen"
)

// NewSCIMToken is a token of the tenant's SCIM address to store.
type NewSCIMToken struct {
	ID        uuid.UUID
	Prefix    string
	SecretMAC []byte
}

// Settings reads the state of the tenant's SCIM address. It fails with NotFound if SCIM is off.
func (t SCIM) Settings(ctx context.Context) (connectors.SCIM, error) {
	r, err := t.q.SCIM(ctx, t.id)
	return connectors.SCIM{
		TokenPrefix: r.Prefix, CreatedAt: r.CreatedAt.UTC(), RotatedAt: toUTC(r.RotatedAt), LastRequestAt: toUTC(r.LastRequestAt),
		Users: int(r.Users), Members: int(r.Members), Groups: int(r.Groups),
	}, rowError(err, "SCIM address")
}

// Enable stores the first token. It fails with Conflict if SCIM is on.
func (t SCIM) Enable(ctx context.Context, n NewSCIMToken) error {
	rows, err := t.q.EnableSCIM(ctx, dbgen.EnableSCIMParams{TenantID: t.id, ID: n.ID, Prefix: n.Prefix, SecretMac: n.SecretMAC})
	if err == nil && rows == 0 {
		return fault.Errorf(fault.Conflict, "SCIM is on. Rotate the token for a new one.")
	}
	return err
}

// SetToken replaces the token. The old one ends at once.
func (t SCIM) SetToken(ctx context.Context, n NewSCIMToken) error {
	rows, err := t.q.SetSCIMToken(ctx, dbgen.SetSCIMTokenParams{TenantID: t.id, ID: n.ID, Prefix: n.Prefix, SecretMac: n.SecretMAC})
	return affectedError(rows, err, "SCIM address")
}

// Disable deletes the token with the provider's users and groups. Members stay.
func (t SCIM) Disable(ctx context.Context) error {
	n, err := t.q.DisableSCIM(ctx, t.id)
	return affectedError(n, err, "SCIM address")
}

// Touch records a request, at most once a minute.
func (t SCIM) Touch(ctx context.Context) error { return t.q.TouchSCIM(ctx, t.id) }

// LockToken fails with NotFound unless id is the token, which it keeps until the transaction ends.
func (t SCIM) LockToken(ctx context.Context, id uuid.UUID) error {
	current, err := t.q.LockSCIM(ctx, t.id)
	if err == nil && current != id {
		return fault.Errorf(fault.NotFound, "No such SCIM token.")
	}
	return rowError(err, "SCIM token")
}

// Users lists the users that a filter matches, by id.
func (t SCIM) Users(ctx context.Context, f connectors.SCIMFilter, skip, limit int) (users []connectors.SCIMUser, total int, err error) {
	err = t.ensureTx(ctx, func(tx *Tenant) error {
		n, err := tx.q.CountSCIMUsers(ctx, dbgen.CountSCIMUsersParams{
			TenantID: tx.id, ID: f.ID, UserName: f.UserName, ExternalID: f.ExternalID, Email: f.Email, Active: f.Active,
		})
		if err != nil || n == 0 || limit == 0 {
			total = int(n)
			return err
		}
		rows, err := tx.q.SCIMUsers(ctx, dbgen.SCIMUsersParams{
			TenantID: tx.id, ID: f.ID, UserName: f.UserName, ExternalID: f.ExternalID, Email: f.Email, Active: f.Active,
			Skipped: int32(min(skip, connectors.MaxSCIMUsers)), MaxRows: int32(limit), //nolint:gosec // bounded
		})
		users, total = mapRows(rows, func(r dbgen.SCIMUsersRow) connectors.SCIMUser { return toSCIMUser(r.ScimUser) }), int(n)
		return err
	})
	return users, total, err
}

// User reads one user.
func (t SCIM) User(ctx context.Context, id connectors.SCIMUserID) (connectors.SCIMUser, error) {
	row, err := t.q.SCIMUser(ctx, t.id, id)
	return toSCIMUser(row), rowError(err, "user")
}

// CreateUser stores a user under a new id, without a member. It fails with Conflict if the tenant has too many.
func (t SCIM) CreateUser(ctx context.Context, u connectors.SCIMUser) (made connectors.SCIMUser, err error) {
	err = t.ensureTx(ctx, func(tx *Tenant) error {
		n, err := tx.q.CountSCIMUsers(ctx, dbgen.CountSCIMUsersParams{TenantID: tx.id})
		if err != nil {
			return err
		}
		if n >= connectors.MaxSCIMUsers {
			return fault.Errorf(fault.Conflict, "At most %d users.", connectors.MaxSCIMUsers)
		}
		row, err := tx.q.AddSCIMUser(ctx, dbgen.AddSCIMUserParams{
			TenantID: tx.id, ID: connectors.SCIMUserID{UUID: newID()}, UserName: cleanText(u.UserName), ExternalID: nullableText(u.ExternalID),
			Email: cleanText(normalizeEmail(u.Email)), Active: u.Active, Attributes: cleanJSON(u.Attributes),
		})
		made = toSCIMUser(row)
		return err
	})
	return made, err
}

// UpdateUser stores a user except its member. A user with a member must stay active.
func (t SCIM) UpdateUser(ctx context.Context, u connectors.SCIMUser) error {
	n, err := t.q.UpdateSCIMUser(ctx, dbgen.UpdateSCIMUserParams{
		TenantID: t.id, ID: u.ID, UserName: cleanText(u.UserName), ExternalID: nullableText(u.ExternalID),
		Email: cleanText(normalizeEmail(u.Email)), Active: u.Active, Attributes: cleanJSON(u.Attributes),
	})
	return affectedError(n, err, "user")
}

// LinkMember stores the member of a user.
func (t SCIM) LinkMember(ctx context.Context, id connectors.SCIMUserID, member connectors.UserID) error {
	n, err := t.q.LinkSCIMUser(ctx, &member, t.id, id)
	return affectedError(n, err, "user")
}

// DeleteUser deletes a user. Its member is ended first.
func (t SCIM) DeleteUser(ctx context.Context, id connectors.SCIMUserID) error {
	n, err := t.q.DeleteSCIMUser(ctx, t.id, id)
	return affectedError(n, err, "user")
}

// IsDeactivated reports whether the provider has deactivated everyone with an address. It is false for an address
// that the provider does not manage.
func (t SCIM) IsDeactivated(ctx context.Context, email string) (bool, error) {
	return t.q.IsDeactivatedBySCIM(ctx, t.id, cleanText(normalizeEmail(email)))
}

// GivesRole reports whether groups that the provider sends by SCIM give a member their role.
func (t SCIM) GivesRole(ctx context.Context, member connectors.UserID) (bool, error) {
	return t.q.IsSCIMRole(ctx, t.id, &member)
}

// Deprovision ends a membership with [People.RemoveMember], and the tokens and workloads of the member's personal
// agents, so that an agent which is enabled again has none of them.
func (t SCIM) Deprovision(ctx context.Context, member connectors.UserID) (agents []string, err error) {
	err = t.ensureTx(ctx, func(tx *Tenant) error {
		if err := tx.q.EndTokensOfMemberAgents(ctx, tx.id, member); err != nil {
			return err
		}
		if err := tx.q.EndWorkloadsOfMemberAgents(ctx, tx.id, member); err != nil {
			return err
		}
		agents, err = tx.People().RemoveMember(ctx, member)
		return err
	})
	return agents, err
}

// HasOtherPasswordOwner reports whether another owner can sign in with a password. It locks the owners' rows.
func (t SCIM) HasOtherPasswordOwner(ctx context.Context, member connectors.UserID) (bool, error) {
	if _, err := t.q.LockOwners(ctx, t.id); err != nil {
		return false, err
	}
	n, err := t.q.OtherPasswordOwners(ctx, t.id, member)
	return n > 0, err
}

// RenameAccount changes the address and name of an account that the tenant issued. Other accounts stay, and the
// result is false.
func (t SCIM) RenameAccount(ctx context.Context, member connectors.UserID, email, name string) (bool, error) {
	n, err := t.q.UpdateIssuedAccount(ctx, dbgen.UpdateIssuedAccountParams{
		Email: t.id.String() + ":" + cleanText(normalizeEmail(email)), Name: cleanText(name), ID: member, IssuedBy: &t.id,
	})
	return n > 0, err
}

// StoredSCIMToken is the token of a tenant's SCIM address.
type StoredSCIMToken struct {
	Tenant        connectors.Tenant
	SecretMAC     []byte
	LastRequestAt *time.Time
}

// SCIMToken finds the SCIM token of any tenant.
func (s SystemSessions) SCIMToken(ctx context.Context, id uuid.UUID) (StoredSCIMToken, error) {
	r, err := s.q.SCIMToken(ctx, id)
	if err != nil {
		return StoredSCIMToken{}, rowError(err, "SCIM token")
	}
	return StoredSCIMToken{Tenant: toTenant(r.Tenant), SecretMAC: r.SecretMac, LastRequestAt: toUTC(r.LastRequestAt)}, nil
}

func toSCIMUser(r dbgen.ScimUser) connectors.SCIMUser {
	return connectors.SCIMUser{
		ID: r.ID, UserName: r.UserName, ExternalID: textOrEmpty(r.ExternalID), Email: r.Email, Active: r.Active, Member: r.UserID,
		Attributes: json.RawMessage(r.Attributes), CreatedAt: r.CreatedAt.UTC(), UpdatedAt: r.UpdatedAt.UTC(),
	}
}
