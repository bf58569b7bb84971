package store

import (
	"context"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/store/dbgen"
)

// mostSessions is how many places a person is shown to be signed in at.
const mostSessions = 100

// Sessions lists where a member is signed in, the last used first: those that began and were used after these times. Who is no member is
// NotFound.
func (t *Tenant) Sessions(ctx context.Context, user connectors.UserID, began, seen time.Time) ([]connectors.Session, error) {
	rows, err := t.q.MemberSessions(ctx, dbgen.MemberSessionsParams{
		TenantID: t.id, UserID: user, BeganAfter: began, SeenAfter: seen, MaxRows: mostSessions,
	})
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		_, err := t.Member(ctx, user)
		return nil, err
	}
	all := make([]connectors.Session, len(rows))
	for i, r := range rows {
		all[i] = connectors.Session{ID: r.ID, UserAgent: r.UserAgent, Address: r.Address, Began: r.BeganAt.UTC(), Seen: r.SeenAt.UTC()}
		if r.Sso {
			all[i].SSO = &t.id
		}
	}
	return all, nil
}

// EndSession signs a member out at one place.
func (t *Tenant) EndSession(ctx context.Context, user connectors.UserID, id connectors.SessionID) error {
	n, err := t.q.EndMemberSession(ctx, t.id, user, id)
	return touched(n, err, "session")
}

// EndSessions signs a member out of this tenant: the sessions and the programs that act as them do not open it any more. Other tenants of the
// person stay open to them.
func (t *Tenant) EndSessions(ctx context.Context, user connectors.UserID) error {
	n, err := t.q.SignMemberOut(ctx, t.id, user)
	return touched(n, err, "member")
}

// EndSSOSessions ends the sessions that began at the tenant's own provider, and the programs that act as members who had signed in there.
func (t *Tenant) EndSSOSessions(ctx context.Context) error {
	return t.within(ctx, func(tx *Tenant) error {
		if err := tx.q.EndSSOPrograms(ctx, tx.id, nil); err != nil {
			return err
		}
		return tx.q.EndSSOSessions(ctx, tx.id)
	})
}

// EndSSOPrograms ends the programs that act as a member who had signed in at the tenant's own provider to let them in.
func (t *Tenant) EndSSOPrograms(ctx context.Context, user connectors.UserID) error {
	return t.q.EndSSOPrograms(ctx, t.id, &user.UUID)
}
