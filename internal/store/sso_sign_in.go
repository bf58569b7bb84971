package store

import (
	"context"
	"strings"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store/dbgen"
)

// SSOFlow is a sign-in that is on its way to the provider and back.
type SSOFlow struct {
	ID        uuid.UUID
	Browser   []byte // a hash of what the browser holds
	Issuer    string
	ClientID  string
	Tester    *connectors.UserID    // the owner who only tries it
	Confirms  *connectors.SessionID // the session that it confirms, in place of beginning one
	ReturnTo  string
	CreatedAt time.Time
	ExpiresAt time.Time
}

// StartSSO stores a sign-in that begins.
func (t *Tenant) StartSSO(ctx context.Context, f SSOFlow) error {
	return t.q.StartSSO(ctx, dbgen.StartSSOParams{
		TenantID: t.id, ID: f.ID, Browser: f.Browser, Issuer: clean(f.Issuer), ClientID: clean(f.ClientID), Tester: f.Tester,
		Confirms: f.Confirms,
		ReturnTo: clean(f.ReturnTo), CreatedAt: f.CreatedAt, ExpiresAt: f.ExpiresAt,
	})
}

// TakeSSO ends a sign-in that was begun, once, where this browser began it.
func (t *Tenant) TakeSSO(ctx context.Context, id uuid.UUID, browser []byte) (SSOFlow, error) {
	row, err := t.q.TakeSSOFlow(ctx, t.id, id, browser)
	if err != nil {
		return SSOFlow{}, found(err, "sign-in")
	}
	return SSOFlow{
		ID: id, Browser: browser, Issuer: row.Issuer, ClientID: row.ClientID, Tester: row.Tester, Confirms: row.Confirms, ReturnTo: row.ReturnTo,
		CreatedAt: row.CreatedAt.UTC(), ExpiresAt: row.ExpiresAt.UTC(),
	}, nil
}

// SSOSubject is who somebody is at a provider: what no provider gives to another person.
type SSOSubject struct{ Issuer, ID string }

// MemberOf is the member that a provider's subject was found to be.
func (t *Tenant) MemberOf(ctx context.Context, s SSOSubject) (connectors.Member, error) {
	id, err := t.q.SSOIdentity(ctx, t.id, clean(s.Issuer), clean(s.ID))
	if err != nil {
		return connectors.Member{}, found(err, "member")
	}
	return t.Member(ctx, id)
}

// MemberAt is the member with an e-mail address.
func (t *Tenant) MemberAt(ctx context.Context, email string) (connectors.Member, error) {
	row, err := t.q.MemberByEmail(ctx, t.id, clean(mailbox(email)))
	if err != nil {
		return connectors.Member{}, found(err, "member")
	}
	return memberOf(dbgen.MemberRow(row)), nil
}

// Bind notes that a provider's subject is a member, and that they sign in now. A member whom the provider knew as another subject is a
// Conflict.
func (t *Tenant) Bind(ctx context.Context, s SSOSubject, user connectors.UserID) error {
	known, err := t.q.SSOSubject(ctx, t.id, clean(s.Issuer), user)
	if found := found(err, "subject"); found != nil && !fault.Is(found, fault.NotFound) {
		return found
	}
	if err == nil && known != clean(s.ID) {
		return fault.Errorf(fault.Conflict, "Your provider gave this address to another account than the one that signed in here before. Ask an owner to remove the member, and sign in again.")
	}
	return t.q.BindSSO(ctx, dbgen.BindSSOParams{TenantID: t.id, Issuer: clean(s.Issuer), Subject: clean(s.ID), UserID: user})
}

// JoinBySSO makes a member of whoever signed in at the tenant's provider, with a new account that opens this tenant alone and has no
// password. The membership opens by single sign-on alone.
func (t *Tenant) JoinBySSO(ctx context.Context, m NewMember) (connectors.Member, error) {
	var member connectors.Member
	err := t.within(ctx, func(tx *Tenant) error {
		email := clean(mailbox(m.Email))
		user, err := issueAccount(ctx, tx.q, tx.id, email, clean(strings.TrimSpace(m.Name)))
		if err != nil {
			return err
		}
		if err := tx.q.AddSSOMembership(ctx, tx.id, user, m.Role); err != nil {
			return err
		}
		if err := tx.q.RevokeInvitationsTo(ctx, tx.id, email); err != nil {
			return err
		}
		member, err = tx.Member(ctx, user)
		return err
	})
	return member, err
}
