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

// UserByEmail finds the account that a person made, in whatever case the address is written.
func (s *System) UserByEmail(ctx context.Context, email string) (User, error) {
	row, err := s.q.UserByEmail(ctx, clean(mailbox(email)))
	if err != nil {
		return User{}, found(err, "person")
	}
	return userOf(row), nil
}

// UsersByAddress lists all accounts of an e-mail address, the newest password first: at most one that its person made, and one of each
// tenant that issued one.
func (s *System) UsersByAddress(ctx context.Context, address string) ([]User, error) {
	rows, err := s.q.UsersByAddress(ctx, clean(mailbox(address)))
	if err != nil {
		return nil, err
	}
	users := make([]User, len(rows))
	for i, r := range rows {
		users[i] = userOf(dbgen.UserByEmailRow(r))
	}
	return users, nil
}

func userOf(r dbgen.UserByEmailRow) User {
	return User{
		ID: r.ID, Email: r.Email, Name: r.Name, PasswordHash: secret.Text(text(r.PasswordHash)), PasswordSetAt: r.PasswordSetAt,
		SecondFactor: r.SecondFactor, IssuedBy: r.IssuedBy, CreatedAt: r.CreatedAt.UTC(),
	}
}

// ForgetWithoutTenant deletes a person's own account that is a member of no tenant any more. Whoever adds the address next makes a new account,
// with a password that nobody knows from before.
func (s *System) ForgetWithoutTenant(ctx context.Context, email string) error {
	email = clean(mailbox(email))
	return s.tx(ctx, func(tx *System) error {
		// A statement of its own: a membership that was made while this one waited is seen by the next.
		if err := tx.q.LockUserByEmail(ctx, email); err != nil {
			return err
		}
		return tx.q.ForgetUserWithoutTenant(ctx, email)
	})
}

// HashOfEachCost lists the password hash of some account for each cost that accounts' hashes have.
func (s *System) HashOfEachCost(ctx context.Context) ([]secret.Text, error) {
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

// SetPasswordHash stores another hash of the same password, in place of old. A person who has chosen another one meanwhile keeps that.
func (s *System) SetPasswordHash(ctx context.Context, id connectors.UserID, old, hash string) error {
	return s.q.SetPasswordHash(ctx, hash, id, old)
}

// ChangePassword stores a new password: what Membership.PasswordSetAt says changes with it, and all of the person's sessions end but the one
// that is kept. The event goes to the audit log of the tenant in which the person is.
func (s *System) ChangePassword(
	ctx context.Context, id connectors.UserID, hash string, kept connectors.SessionID, in connectors.TenantID, event Event,
) error {
	return s.tx(ctx, func(tx *System) error {
		tenant := tx.tenant(in)
		was, err := tenant.Before(ctx, OfPassword(id))
		if err != nil {
			return err
		}
		n, err := tx.q.ChangePassword(ctx, id, hash)
		if err := touched(n, err, "person"); err != nil {
			return err
		}
		if err := tx.q.EndOtherBrowserSessions(ctx, id, kept); err != nil {
			return err
		}
		if err := tx.q.DropUnconfirmedFactor(ctx, id); err != nil { // who knew the old password may have begun it
			return err
		}
		return tenant.RecordChange(ctx, event, was, OfPassword(id))
	})
}

// SignedIn notes that a person has signed in.
func (s *System) SignedIn(ctx context.Context, id connectors.UserID) error {
	n, err := s.q.SignedIn(ctx, id)
	return touched(n, err, "person")
}

// Memberships lists the tenants of a person, by name.
func (s *System) Memberships(ctx context.Context, id connectors.UserID) ([]Membership, error) {
	rows, err := s.q.Memberships(ctx, id)
	if err != nil {
		return nil, err
	}
	all := make([]Membership, len(rows))
	for i, r := range rows {
		all[i] = membershipOf(dbgen.MembershipRow(r))
	}
	return all, nil
}

// Membership is a person's membership of one tenant.
func (s *System) Membership(ctx context.Context, id connectors.UserID, tenant connectors.TenantID) (Membership, error) {
	row, err := s.q.Membership(ctx, id, tenant)
	if err != nil {
		return Membership{}, found(err, "membership")
	}
	return membershipOf(row), nil
}

func membershipOf(r dbgen.MembershipRow) Membership {
	return Membership{
		Tenant: tenantOf(r.Tenant), Role: r.Role, Email: r.Email, Name: r.Name, PasswordSetAt: r.PasswordSetAt, SSO: r.Sso, SSOOnly: r.SsoOnly,
		SecondFactor: r.SecondFactor, Issued: r.Issued,
	}
}

// APIKey finds a key in any tenant. A revoked or expired one is found, too: Key says so.
func (s *System) APIKey(ctx context.Context, id connectors.APIKeyID) (StoredKey, error) {
	row, err := s.q.APIKey(ctx, id)
	if err != nil {
		return StoredKey{}, found(err, "API key")
	}
	k := row.ApiKey
	return StoredKey{
		Tenant: tenantOf(row.Tenant),
		Key: apiKeyOf(dbgen.CreateAPIKeyRow{
			ID: k.ID, Name: k.Name, Role: k.Role, Prefix: k.Prefix, CreatedAt: k.CreatedAt,
			ExpiresAt: k.ExpiresAt, LastUsedAt: k.LastUsedAt, RevokedAt: k.RevokedAt, CreatedByName: k.CreatedByName,
		}),
		SecretMAC: k.SecretMac,
	}, nil
}

// TouchAPIKey notes that a key was used, at most once a minute.
func (s *System) TouchAPIKey(ctx context.Context, id connectors.APIKeyID) error {
	return s.q.TouchAPIKey(ctx, id)
}

// SignInFailures counts the wrong passwords since a time, for an account and from an address. It counts to 100 and no
// further, so that its work is the same however many there are.
func (s *System) SignInFailures(ctx context.Context, account, address string, since time.Time) (byAccount, byAddress int, err error) {
	row, err := s.q.SignInFailures(ctx, failureKey(mailbox(account)), since, failureKey(address))
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return 0, 0, err
	}
	return int(row.ByAccount), int(row.ByAddress), nil
}

// RecordSignInFailure notes a wrong password.
func (s *System) RecordSignInFailure(ctx context.Context, account, address string) error {
	return s.q.RecordSignInFailure(ctx, failureKey(mailbox(account)), failureKey(address))
}

// ClearSignInFailures forgets the wrong passwords of an account.
func (s *System) ClearSignInFailures(ctx context.Context, account string) error {
	return s.q.ClearSignInFailures(ctx, failureKey(mailbox(account)))
}

// failureKey bounds what strangers can make us store: an index takes no more than a few KiB.
func failureKey(s string) string {
	const most = 320 // the longest e-mail address (RFC 3696, erratum 1690, with some to spare)
	s = clean(s)
	if len(s) > most {
		s = clean(s[:most])
	}
	return s
}
