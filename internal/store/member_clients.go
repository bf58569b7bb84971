package store

import (
	"context"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/store/dbgen"
)

// ClientOwner is the current sign-in state of a member with OAuth clients.
type ClientOwner struct {
	Role        connectors.Role
	SSO         bool      // the tenant uses single sign-on
	SSOOnly     bool      // the member may only use single sign-on
	SSOSignedIn time.Time // last sign-in at the tenant's provider; 1970: never
	SignedOut   time.Time // when all sessions were ended; zero: never
}

// StoredMemberToken is an access token of a client that acts as a member, with its MAC and the member's current
// state.
type StoredMemberToken struct {
	Member       Membership
	Owner        ClientOwner
	UserID       connectors.UserID
	Client       connectors.AgentClientID
	ClientID     string
	Name         string // the client's self-chosen name
	Host         string // host of its metadata document; empty: registered dynamically
	Scope        connectors.ClientScope
	BySSO        bool
	AuthorizedAt time.Time
	CreatedAt    time.Time
	ExpiresAt    time.Time
	UsedAt       *time.Time
	SecretMAC    []byte
	Key          string // thumbprint of the key that it is bound to; empty: none
}

// ProgramOwner reads the sign-in state of a member with OAuth clients.
func (t People) ProgramOwner(ctx context.Context, user connectors.UserID) (ClientOwner, error) {
	r, err := t.q.ClientOwner(ctx, t.id, user)
	if err != nil {
		return ClientOwner{}, rowError(err, "member")
	}
	return toProgramOwner(r), nil
}

func toProgramOwner(r dbgen.ClientOwnerRow) ClientOwner {
	return ClientOwner{Role: r.Role, SSO: r.Sso, SSOOnly: r.SsoOnly, SSOSignedIn: r.SsoSignedInAt, SignedOut: r.SignedOutAt}
}

// MemberToken is a new access token of a client that acts as a member.
type MemberToken struct {
	ID        connectors.MemberTokenID
	SecretMAC []byte
	ExpiresAt time.Time
	Key       string // thumbprint of the key that it is bound to; empty: none
}

// CreateMemberToken stores an access token of a client that acts as a member, and deletes its oldest above the
// bound.
func (t People) CreateMemberToken(ctx context.Context, client connectors.AgentClientID, n MemberToken) error {
	return t.ensureTx(ctx, func(tx *Tenant) error {
		err := tx.q.CreateMemberToken(ctx, dbgen.CreateMemberTokenParams{
			TenantID: tx.id, ID: n.ID, AgentClientID: client, SecretMac: n.SecretMAC, ExpiresAt: n.ExpiresAt, KeyThumbprint: nullableText(n.Key),
		})
		if err != nil {
			return err
		}
		return tx.q.DeleteOldMemberTokens(ctx, tx.id, client, maxAccessTokens)
	})
}

// DropMemberToken deletes one access token of a client that acts as a member.
func (t People) DropMemberToken(ctx context.Context, id connectors.MemberTokenID) error {
	n, err := t.q.DeleteMemberToken(ctx, t.id, id)
	return affectedError(n, err, "token")
}

// MemberToken finds a member token of any tenant, including expired ones.
func (s SystemPeople) MemberToken(ctx context.Context, id connectors.MemberTokenID) (StoredMemberToken, error) {
	r, err := s.q.MemberToken(ctx, id)
	if err != nil {
		return StoredMemberToken{}, rowError(err, "token")
	}
	return StoredMemberToken{
		Member: Membership{
			Tenant: toTenant(r.Tenant), Role: r.Role, Email: r.Email, Name: r.Name, SSO: r.Sso, SSOOnly: r.SsoOnly, SecondFactor: r.SecondFactor,
			Issued: r.Issued,
		},
		Owner: toProgramOwner(dbgen.ClientOwnerRow{
			Role: r.Role, SignedOutAt: r.SignedOutAt, Sso: r.Sso, SsoOnly: r.SsoOnly, SsoSignedInAt: r.SsoSignedInAt,
		}),
		UserID: r.UserID, Client: r.AgentClientID, ClientID: r.ClientID, Name: r.ClientName, Host: r.ClientHost,
		Scope: connectors.ClientScope(textOrEmpty(r.Scope)), BySSO: r.BySso, AuthorizedAt: r.LetInAt, CreatedAt: r.CreatedAt, ExpiresAt: r.ExpiresAt, UsedAt: r.LastUsedAt, SecretMAC: r.SecretMac,
		Key: textOrEmpty(r.KeyThumbprint),
	}, nil
}

// TouchMemberToken records the last use of a token, at most once a minute.
func (s SystemPeople) TouchMemberToken(ctx context.Context, id connectors.MemberTokenID) error {
	return s.q.TouchMemberToken(ctx, id)
}

// ConsumeConfirmation marks a confirmation as used and remembers it until a time. It is false if it was used
// already.
func (t People) ConsumeConfirmation(ctx context.Context, id uuid.UUID, until time.Time) (bool, error) {
	n, err := t.q.ConsumeConfirmation(ctx, t.id, id, until)
	return n > 0, err
}

// NewMemberTokenID makes the id of a member token.
func NewMemberTokenID() connectors.MemberTokenID { return connectors.MemberTokenID{UUID: newID()} }
