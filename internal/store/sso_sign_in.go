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

// SSOFlow is a pending sign-in at the provider.
type SSOFlow struct {
	ID        uuid.UUID
	Browser   []byte // hash of the browser's binding
	Issuer    string
	ClientID  string
	Tester    *connectors.UserID    // owner that tests the settings
	Confirms  *connectors.SessionID // session that is confirmed instead of starting a new one
	ReturnTo  string
	CreatedAt time.Time
	ExpiresAt time.Time
}

// Start stores a pending sign-in.
func (t SSO) Start(ctx context.Context, f SSOFlow) error {
	return t.q.StartSSO(ctx, dbgen.StartSSOParams{
		TenantID: t.id, ID: f.ID, Browser: f.Browser, Issuer: cleanText(f.Issuer), ClientID: cleanText(f.ClientID), Tester: f.Tester,
		Confirms: f.Confirms,
		ReturnTo: cleanText(f.ReturnTo), CreatedAt: f.CreatedAt, ExpiresAt: f.ExpiresAt,
	})
}

// Take deletes and returns a pending sign-in of this browser.
func (t SSO) Take(ctx context.Context, id uuid.UUID, browser []byte) (SSOFlow, error) {
	row, err := t.q.ConsumeSSOFlow(ctx, t.id, id, browser)
	if err != nil {
		return SSOFlow{}, rowError(err, "sign-in")
	}
	return SSOFlow{
		ID: id, Browser: browser, Issuer: row.Issuer, ClientID: row.ClientID, Tester: row.Tester, Confirms: row.Confirms, ReturnTo: row.ReturnTo,
		CreatedAt: row.CreatedAt.UTC(), ExpiresAt: row.ExpiresAt.UTC(),
	}, nil
}

// SSOSubject identifies a person at a provider (OpenID Connect Core section 2: iss and sub).
type SSOSubject struct{ Issuer, ID string }

// MemberBySubject returns the member that a subject is bound to.
func (t SSO) MemberBySubject(ctx context.Context, s SSOSubject) (connectors.Member, error) {
	id, err := t.q.SSOIdentity(ctx, t.id, cleanText(s.Issuer), cleanText(s.ID))
	if err != nil {
		return connectors.Member{}, rowError(err, "member")
	}
	return t.asTenant().People().Member(ctx, id)
}

// MemberByEmail returns the member with an e-mail address.
func (t SSO) MemberByEmail(ctx context.Context, email string) (connectors.Member, error) {
	row, err := t.q.MemberByEmail(ctx, t.id, cleanText(normalizeEmail(email)))
	if err != nil {
		return connectors.Member{}, rowError(err, "member")
	}
	return toMember(dbgen.MemberRow(row)), nil
}

// BindSSOSubject binds a subject to a member and records the sign-in with the address that the provider confirmed. A member bound to another subject is a
// Conflict.
func (t SSO) BindSSOSubject(ctx context.Context, s SSOSubject, user connectors.UserID, email string) error {
	known, err := t.q.SSOSubject(ctx, t.id, cleanText(s.Issuer), user)
	if found := rowError(err, "subject"); found != nil && !fault.Is(found, fault.NotFound) {
		return found
	}
	if err == nil && known != cleanText(s.ID) {
		return fault.Errorf(fault.Conflict, "Your provider now uses this address for a different account. Ask an owner to remove the member, then sign in again.")
	}
	return t.q.BindSSO(ctx, dbgen.BindSSOParams{TenantID: t.id, Issuer: cleanText(s.Issuer), Subject: cleanText(s.ID), UserID: user, Email: cleanText(normalizeEmail(email))})
}

// JoinBySSO makes a member after a sign-in at the tenant's provider. The new account has no password and opens
// this tenant alone, by single sign-on.
func (t SSO) JoinBySSO(ctx context.Context, m NewMember) (connectors.Member, error) {
	var member connectors.Member
	err := t.ensureTx(ctx, func(tx *Tenant) error {
		email := cleanText(normalizeEmail(m.Email))
		user, err := issueAccount(ctx, tx.q, tx.id, email, cleanText(strings.TrimSpace(m.Name)))
		if err != nil {
			return err
		}
		if err := tx.q.AddSSOMembership(ctx, tx.id, user, m.Role); err != nil {
			return err
		}
		if err := tx.q.RevokeInvitationsTo(ctx, tx.id, email); err != nil {
			return err
		}
		member, err = tx.People().Member(ctx, user)
		return err
	})
	return member, err
}
