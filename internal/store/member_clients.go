package store

import (
	"context"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/store/dbgen"
)

// ProgramStanding is how whoever let a program in stands today.
type ProgramStanding struct {
	Role        connectors.Role
	SSO         bool      // the tenant has single sign-on turned on
	SSOOnly     bool      // it opens to them by single sign-on alone
	SSOSignedIn time.Time // when they last signed in at the tenant's provider; 1970: never
	SignedOut   time.Time // when all of their sessions were ended; zero: never
}

// StoredMemberToken is an access token of a program that acts as a member, with what recognises it and who that is today.
type StoredMemberToken struct {
	Member    Membership
	Standing  ProgramStanding
	UserID    connectors.UserID
	Client    connectors.AgentClientID
	ClientID  string
	Name      string // what the program calls itself
	Host      string // whose document says so; empty: nobody can tell
	Scope     connectors.ClientScope
	BySSO     bool
	LetIn     time.Time
	CreatedAt time.Time
	ExpiresAt time.Time
	UsedAt    *time.Time
	SecretMAC []byte
}

// ProgramStanding reads how a member stands who let programs in.
func (t *Tenant) ProgramStanding(ctx context.Context, user connectors.UserID) (ProgramStanding, error) {
	r, err := t.q.ProgramStanding(ctx, t.id, user)
	if err != nil {
		return ProgramStanding{}, found(err, "member")
	}
	return standingOf(r), nil
}

func standingOf(r dbgen.ProgramStandingRow) ProgramStanding {
	return ProgramStanding{Role: r.Role, SSO: r.Sso, SSOOnly: r.SsoOnly, SSOSignedIn: r.SsoSignedInAt, SignedOut: r.SignedOutAt}
}

// MemberToken is a new access token of a program that acts as a member.
type MemberToken struct {
	ID        connectors.MemberTokenID
	SecretMAC []byte
	ExpiresAt time.Time
}

// CreateMemberToken stores an access token of a program that acts as a member, and ends its older ones but for the last few.
func (t *Tenant) CreateMemberToken(ctx context.Context, client connectors.AgentClientID, n MemberToken) error {
	return t.within(ctx, func(tx *Tenant) error {
		err := tx.q.CreateMemberToken(ctx, dbgen.CreateMemberTokenParams{
			TenantID: tx.id, ID: n.ID, AgentClientID: client, SecretMac: n.SecretMAC, ExpiresAt: n.ExpiresAt,
		})
		if err != nil {
			return err
		}
		return tx.q.DropOldMemberTokens(ctx, tx.id, client, mostAccessTokens)
	})
}

// DropMemberToken ends one access token of a program that acts as a member.
func (t *Tenant) DropMemberToken(ctx context.Context, id connectors.MemberTokenID) error {
	n, err := t.q.DropMemberToken(ctx, t.id, id)
	return touched(n, err, "token")
}

// MemberToken finds a token of a program that acts as a member, in any tenant. An expired one is found, too.
func (s *System) MemberToken(ctx context.Context, id connectors.MemberTokenID) (StoredMemberToken, error) {
	r, err := s.q.MemberToken(ctx, id)
	if err != nil {
		return StoredMemberToken{}, found(err, "token")
	}
	return StoredMemberToken{
		Member: Membership{
			Tenant: tenantOf(r.Tenant), Role: r.Role, Email: r.Email, Name: r.Name, SSO: r.Sso, SSOOnly: r.SsoOnly, SecondFactor: r.SecondFactor,
			Issued: r.Issued,
		},
		Standing: standingOf(dbgen.ProgramStandingRow{
			Role: r.Role, SignedOutAt: r.SignedOutAt, Sso: r.Sso, SsoOnly: r.SsoOnly, SsoSignedInAt: r.SsoSignedInAt,
		}),
		UserID: r.UserID, Client: r.AgentClientID, ClientID: r.ClientID, Name: r.ClientName, Host: r.ClientHost,
		Scope: connectors.ClientScope(text(r.Scope)), BySSO: r.BySso, LetIn: r.LetInAt, CreatedAt: r.CreatedAt, ExpiresAt: r.ExpiresAt, UsedAt: r.LastUsedAt, SecretMAC: r.SecretMac,
	}, nil
}

// TouchMemberToken notes that a token was used, at most once a minute.
func (s *System) TouchMemberToken(ctx context.Context, id connectors.MemberTokenID) error {
	return s.q.TouchMemberToken(ctx, id)
}

// SpendConfirmation notes that a person's yes was used, which is remembered until then; false: it was used before.
func (t *Tenant) SpendConfirmation(ctx context.Context, id uuid.UUID, until time.Time) (bool, error) {
	n, err := t.q.SpendConfirmation(ctx, t.id, id, until)
	return n > 0, err
}

// NewMemberTokenID names an access token of a program that acts as a member.
func NewMemberTokenID() connectors.MemberTokenID { return connectors.MemberTokenID{UUID: newID()} }
