package store

import (
	"context"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/store/dbgen"
)

// longestBrowser bounds what a browser can make us store.
const longestBrowser = 400

// BeginSession notes that a person has signed in. What the browser says of itself is cut.
func (s *System) BeginSession(ctx context.Context, user connectors.UserID, n connectors.Session) error {
	p := dbgen.BeginBrowserSessionParams{
		ID: n.ID, UserID: user, UserAgent: shortened(n.UserAgent), Address: shortened(n.Address), BeganAt: n.Began,
		SecondFactor: n.SecondFactor,
		ConfirmedAt:  &n.Began,
	}
	if n.SSO != nil {
		p.SsoTenantID, p.ConfirmedAt = &n.SSO.UUID, nil // the provider may have known the browser, and asked nothing
	}
	return s.q.BeginBrowserSession(ctx, p)
}

// BeginSessionOnRecord is BeginSession with its entry in the audit log of the tenant that the session opens: neither is without the other.
func (s *System) BeginSessionOnRecord(ctx context.Context, user connectors.UserID, n connectors.Session, in connectors.TenantID, event Event) error {
	return s.tx(ctx, func(tx *System) error {
		if err := tx.BeginSession(ctx, user, n); err != nil {
			return err
		}
		return tx.tenant(in).Record(ctx, event)
	})
}

// NewSessionID names a session that begins.
func NewSessionID() connectors.SessionID { return connectors.SessionID{UUID: newID()} }

// Standing is how a session stands.
type Standing struct {
	Began, Seen time.Time
	Proven      bool       // by the person's second factor
	Confirmed   *time.Time // when its person last proved who they are; nil: not since it began, nor then
}

// SessionMemberships is Memberships of the person whose session it is. None: it was ended, or opens no tenant any more.
func (s *System) SessionMemberships(ctx context.Context, id connectors.SessionID, user connectors.UserID) ([]Membership, Standing, error) {
	rows, err := s.q.SessionMemberships(ctx, id, user)
	if err != nil || len(rows) == 0 {
		return nil, Standing{}, err
	}
	all := make([]Membership, len(rows))
	for i, r := range rows {
		all[i] = membershipOf(dbgen.MembershipRow{
			Tenant: r.Tenant, Role: r.Role, Email: r.Email, Name: r.Name, PasswordSetAt: r.PasswordSetAt, Sso: r.Sso, SsoOnly: r.SsoOnly,
			SecondFactor: r.SecondFactor, Issued: r.Issued,
		})
	}
	return all, Standing{Began: rows[0].BeganAt, Seen: rows[0].SeenAt, Proven: rows[0].Proven, Confirmed: rows[0].ConfirmedAt}, nil
}

// UseSession notes that a session was used, and from where; address empty: from where it was last.
func (s *System) UseSession(ctx context.Context, id connectors.SessionID, at time.Time, address string) error {
	return s.q.UseBrowserSession(ctx, at, shortened(address), id)
}

// ConfirmSession notes that the person of a session has proved at a time who they are.
func (s *System) ConfirmSession(ctx context.Context, id connectors.SessionID, at time.Time) error {
	return s.q.ConfirmBrowserSession(ctx, at, id)
}

// EndSession ends one session. One that is gone is no error.
func (s *System) EndSession(ctx context.Context, id connectors.SessionID) error {
	_, err := s.q.EndBrowserSession(ctx, id)
	return err
}

// EndSessionsOnRecord ends all sessions of a person, and the programs that act as them, in whichever tenant, with an entry in the audit log of
// the tenant in which the person is.
func (s *System) EndSessionsOnRecord(ctx context.Context, user connectors.UserID, in connectors.TenantID, event Event) error {
	return s.tx(ctx, func(tx *System) error {
		if err := tx.q.EndOtherBrowserSessions(ctx, user, connectors.SessionID{}); err != nil {
			return err
		}
		return tx.tenant(in).Record(ctx, event)
	})
}

// SignMemberOut signs a member out of a tenant, with an entry in its audit log. The sessions of a person who is in no other tenant are
// deleted: servers that do not compare them with memberships.signed_out_at honour that, too, while they are upgraded.
func (s *System) SignMemberOut(ctx context.Context, user connectors.UserID, of connectors.TenantID, event Event) error {
	return s.tx(ctx, func(tx *System) error {
		tenant := tx.tenant(of)
		if err := tenant.EndSessions(ctx, user); err != nil {
			return err
		}
		memberships, err := tx.Memberships(ctx, user)
		if err != nil {
			return err
		}
		if len(memberships) == 1 {
			if err := tx.q.EndOtherBrowserSessions(ctx, user, connectors.SessionID{}); err != nil {
				return err
			}
		}
		return tenant.Record(ctx, event)
	})
}

// EndSessionOnRecord is EndSession with its entry in the audit log of the tenant that was open in it. One that is gone was ended by somebody
// else, who is on record.
func (s *System) EndSessionOnRecord(ctx context.Context, id connectors.SessionID, in connectors.TenantID, event Event) error {
	return s.tx(ctx, func(tx *System) error {
		n, err := tx.q.EndBrowserSession(ctx, id)
		if err != nil || n == 0 {
			return err
		}
		return tx.tenant(in).Record(ctx, event)
	})
}

func shortened(said string) string {
	said = clean(said)
	if len(said) > longestBrowser {
		said = clean(said[:longestBrowser])
	}
	return said
}
