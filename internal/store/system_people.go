package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"patchbay/internal/connectors"
	"patchbay/internal/secret"
	"patchbay/internal/store/dbgen"
)

// UserByEmail finds a person's own account; the case of the address is ignored.
func (s SystemPeople) UserByEmail(ctx context.Context, email string) (User, error) {
	row, err := s.q.UserByEmail(ctx, cleanText(normalizeEmail(email)))
	if err != nil {
		return User{}, rowError(err, "person")
	}
	return toUser(row), nil
}

// UsersByAddress lists all accounts of an e-mail address, newest password first: at most one of the person, and
// one per tenant that issued one.
func (s SystemPeople) UsersByAddress(ctx context.Context, address string) ([]User, error) {
	rows, err := s.q.UsersByAddress(ctx, cleanText(normalizeEmail(address)))
	if err != nil {
		return nil, err
	}
	users := make([]User, len(rows))
	for i, r := range rows {
		users[i] = toUser(dbgen.UserByEmailRow(r))
	}
	return users, nil
}

func toUser(r dbgen.UserByEmailRow) User {
	return User{
		ID: r.ID, Email: r.Email, Name: r.Name, PasswordHash: secret.Text(textOrEmpty(r.PasswordHash)), PasswordSetAt: r.PasswordSetAt,
		SecondFactor: r.SecondFactor, IssuedBy: r.IssuedBy, CreatedAt: r.CreatedAt.UTC(),
	}
}

// DeleteOrphanedUser deletes a person's own account without memberships. So the next account of the address
// gets a new password.
func (s SystemPeople) DeleteOrphanedUser(ctx context.Context, email string) error {
	email = cleanText(normalizeEmail(email))
	return s.inTx(ctx, func(tx *System) error {
		// A separate statement, so that the next sees a membership made while this one waited.
		if err := tx.q.LockUserByEmail(ctx, email); err != nil {
			return err
		}
		return tx.q.DeleteUserWithoutTenant(ctx, email)
	})
}

// HashOfEachCost returns one password hash for each cost in use.
func (s SystemPeople) HashOfEachCost(ctx context.Context) ([]secret.Text, error) {
	rows, err := s.q.HashOfEachCost(ctx)
	if err != nil {
		return nil, err
	}
	hashes := make([]secret.Text, len(rows))
	for i, hash := range rows {
		hashes[i] = secret.Text(hash)
	}
	return hashes, nil
}

// SetPasswordHash replaces the hash old by another of the same password. It does nothing if the password
// changed meanwhile.
func (s SystemPeople) SetPasswordHash(ctx context.Context, id connectors.UserID, old, hash string) error {
	return s.q.SetPasswordHash(ctx, hash, id, old)
}

// ChangePassword stores a new password and sets PasswordSetAt. It ends all of the person's sessions except the
// kept one. The event goes to the audit log of the current tenant.
func (s SystemPeople) ChangePassword(
	ctx context.Context, id connectors.UserID, hash string, kept connectors.SessionID, in connectors.TenantID, event Event,
) error {
	return s.inTx(ctx, func(tx *System) error {
		tenant := tx.tenantInTx(in)
		was, err := tenant.LockAndReadState(ctx, OfPassword(id))
		if err != nil {
			return err
		}
		n, err := tx.q.ChangePassword(ctx, id, hash)
		if err := affectedError(n, err, "person"); err != nil {
			return err
		}
		if err := tx.q.EndOtherBrowserSessions(ctx, id, kept); err != nil {
			return err
		}
		if err := tx.q.DeleteUnconfirmedFactor(ctx, id); err != nil { // it may have been begun with the old password
			return err
		}
		return tenant.RecordChange(ctx, event, was, OfPassword(id))
	})
}

// RecordSignIn records a sign-in.
func (s SystemPeople) RecordSignIn(ctx context.Context, id connectors.UserID) error {
	n, err := s.q.RecordSignIn(ctx, id)
	return affectedError(n, err, "person")
}

// Memberships lists a person's tenants by name.
func (s SystemPeople) Memberships(ctx context.Context, id connectors.UserID) ([]Membership, error) {
	rows, err := s.q.Memberships(ctx, id)
	if err != nil {
		return nil, err
	}
	all := make([]Membership, len(rows))
	for i, r := range rows {
		all[i] = toMembership(dbgen.MembershipRow(r))
	}
	return all, nil
}

// Membership reads a person's membership of one tenant.
func (s SystemPeople) Membership(ctx context.Context, id connectors.UserID, tenant connectors.TenantID) (Membership, error) {
	row, err := s.q.Membership(ctx, id, tenant)
	if err != nil {
		return Membership{}, rowError(err, "membership")
	}
	return toMembership(row), nil
}

func toMembership(r dbgen.MembershipRow) Membership {
	return Membership{
		Tenant: toTenant(r.Tenant), Role: r.Role, Email: r.Email, Name: r.Name, PasswordSetAt: r.PasswordSetAt, SSO: r.Sso, SSOOnly: r.SsoOnly,
		SecondFactor: r.SecondFactor, Issued: r.Issued,
	}
}

// APIKey finds a key of any tenant, including revoked and expired ones.
func (s SystemPeople) APIKey(ctx context.Context, id connectors.APIKeyID) (StoredKey, error) {
	row, err := s.q.APIKey(ctx, id)
	if err != nil {
		return StoredKey{}, rowError(err, "API key")
	}
	k := row.ApiKey
	return StoredKey{
		Tenant: toTenant(row.Tenant),
		Key: toAPIKey(dbgen.CreateAPIKeyRow{
			ID: k.ID, Name: k.Name, Role: k.Role, Prefix: k.Prefix, CreatedAt: k.CreatedAt,
			ExpiresAt: k.ExpiresAt, LastUsedAt: k.LastUsedAt, RevokedAt: k.RevokedAt, CreatedByName: k.CreatedByName,
		}),
		SecretMAC: k.SecretMac,
	}, nil
}

// TouchAPIKey records the last use of a key, at most once a minute.
func (s SystemPeople) TouchAPIKey(ctx context.Context, id connectors.APIKeyID) error {
	return s.q.TouchAPIKey(ctx, id)
}

// SignInFailures counts the wrong passwords since a time for an account and from an address, each up to 100, so
// that its cost is constant.
func (s SystemPeople) SignInFailures(ctx context.Context, account, address string, since time.Time) (byAccount, byAddress int, err error) {
	row, err := s.q.SignInFailures(ctx, failureKey(normalizeEmail(account)), since, failureKey(address))
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return 0, 0, err
	}
	return int(row.ByAccount), int(row.ByAddress), nil
}

// RecordSignInFailure stores a wrong password.
func (s SystemPeople) RecordSignInFailure(ctx context.Context, account, address string) error {
	return s.q.RecordSignInFailure(ctx, failureKey(normalizeEmail(account)), failureKey(address))
}

// ClearSignInFailures deletes the wrong passwords of an account.
func (s SystemPeople) ClearSignInFailures(ctx context.Context, account string) error {
	return s.q.ClearSignInFailures(ctx, failureKey(normalizeEmail(account)))
}

// failureKey bounds unauthenticated input: an index entry takes a few KiB at most.
func failureKey(s string) string {
	const most = 320 // the longest e-mail address (RFC 3696, erratum 1690), with a margin
	s = cleanText(s)
	if len(s) > most {
		s = cleanText(s[:most])
	}
	return s
}
