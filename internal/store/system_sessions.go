package store

import (
	"context"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/store/dbgen"
)

// maxBrowserLength bounds the stored User-Agent text.
const maxBrowserLength = 400

// BeginSession stores a session.
func (s SystemSessions) BeginSession(ctx context.Context, user connectors.UserID, n connectors.Session) error {
	p := dbgen.BeginBrowserSessionParams{
		ID: n.ID, UserID: user, UserAgent: truncateBrowser(n.UserAgent), Address: truncateBrowser(n.Address), BeganAt: n.Began,
		SecondFactor: n.SecondFactor,
		ConfirmedAt:  &n.Began,
	}
	if n.SSO != nil {
		p.SsoTenantID, p.ConfirmedAt = &n.SSO.UUID, nil // the provider may have signed in the browser without asking
	}
	return s.q.BeginBrowserSession(ctx, p)
}

// BeginSessionOnRecord is [SystemSessions.BeginSession] with its audit entry, in one transaction.
func (s SystemSessions) BeginSessionOnRecord(ctx context.Context, user connectors.UserID, n connectors.Session, in connectors.TenantID, event Event) error {
	return s.inTx(ctx, func(tx *System) error {
		if err := tx.Sessions().BeginSession(ctx, user, n); err != nil {
			return err
		}
		return tx.tenantInTx(in).Audit().Record(ctx, event)
	})
}

// NewSessionID makes the id of a session.
func NewSessionID() connectors.SessionID { return connectors.SessionID{UUID: newID()} }

// SessionState is the state of a session.
type SessionState struct {
	Began, Seen time.Time
	Proven      bool       // by the second factor
	Confirmed   *time.Time // last re-authentication; nil: none
}

// SessionMemberships returns the memberships that a session opens. It is empty if the session ended.
func (s SystemSessions) SessionMemberships(ctx context.Context, id connectors.SessionID, user connectors.UserID) ([]Membership, SessionState, error) {
	rows, err := s.q.SessionMemberships(ctx, id, user)
	if err != nil || len(rows) == 0 {
		return nil, SessionState{}, err
	}
	all := make([]Membership, len(rows))
	for i, r := range rows {
		all[i] = toMembership(dbgen.MembershipRow{
			Tenant: r.Tenant, Role: r.Role, Email: r.Email, Name: r.Name, PasswordSetAt: r.PasswordSetAt, Sso: r.Sso, SsoOnly: r.SsoOnly,
			SecondFactor: r.SecondFactor, Issued: r.Issued,
		})
	}
	return all, SessionState{Began: rows[0].BeganAt, Seen: rows[0].SeenAt, Proven: rows[0].Proven, Confirmed: rows[0].ConfirmedAt}, nil
}

// UseSession records the last use of a session and its address; empty: unchanged.
func (s SystemSessions) UseSession(ctx context.Context, id connectors.SessionID, at time.Time, address string) error {
	return s.q.TouchBrowserSession(ctx, at, truncateBrowser(address), id)
}

// ConfirmSession records a re-authentication.
func (s SystemSessions) ConfirmSession(ctx context.Context, id connectors.SessionID, at time.Time) error {
	return s.q.ConfirmBrowserSession(ctx, at, id)
}

// EndSession ends one session. A missing one is no error.
func (s SystemSessions) EndSession(ctx context.Context, id connectors.SessionID) error {
	_, err := s.q.EndBrowserSession(ctx, id)
	return err
}

// EndSessionsOnRecord ends all sessions of a person, and the clients that act as them, in every tenant. The
// audit entry goes to the current tenant.
func (s SystemSessions) EndSessionsOnRecord(ctx context.Context, user connectors.UserID, in connectors.TenantID, event Event) error {
	return s.inTx(ctx, func(tx *System) error {
		if err := tx.q.EndOtherBrowserSessions(ctx, user, connectors.SessionID{}); err != nil {
			return err
		}
		return tx.tenantInTx(in).Audit().Record(ctx, event)
	})
}

// SignMemberOut signs a member out of a tenant, with an audit entry. Sessions of a person without other tenants
// are deleted, which older releases also respect during an upgrade.
func (s SystemSessions) SignMemberOut(ctx context.Context, user connectors.UserID, of connectors.TenantID, event Event) error {
	return s.inTx(ctx, func(tx *System) error {
		tenant := tx.tenantInTx(of)
		if err := tenant.People().EndSessions(ctx, user); err != nil {
			return err
		}
		memberships, err := tx.People().Memberships(ctx, user)
		if err != nil {
			return err
		}
		if len(memberships) == 1 {
			if err := tx.q.EndOtherBrowserSessions(ctx, user, connectors.SessionID{}); err != nil {
				return err
			}
		}
		return tenant.Audit().Record(ctx, event)
	})
}

// EndSessionOnRecord is [SystemSessions.EndSession] with an audit entry in the session's tenant. A session that is
// missing has its entry already.
func (s SystemSessions) EndSessionOnRecord(ctx context.Context, id connectors.SessionID, in connectors.TenantID, event Event) error {
	return s.inTx(ctx, func(tx *System) error {
		n, err := tx.q.EndBrowserSession(ctx, id)
		if err != nil || n == 0 {
			return err
		}
		return tx.tenantInTx(in).Audit().Record(ctx, event)
	})
}

func truncateBrowser(text string) string {
	text = cleanText(text)
	if len(text) > maxBrowserLength {
		text = cleanText(text[:maxBrowserLength])
	}
	return text
}
