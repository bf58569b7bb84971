package store

import (
	"context"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/store/dbgen"
)

// maxSessions bounds the sessions that a person is shown.
const maxSessions = 100

// Sessions lists a member's sessions that began after began and were used after seen, last used first. It fails
// with NotFound for a non-member.
func (t People) Sessions(ctx context.Context, user connectors.UserID, began, seen time.Time) ([]connectors.Session, error) {
	rows, err := t.q.MemberSessions(ctx, dbgen.MemberSessionsParams{
		TenantID: t.id, UserID: user, BeganAfter: began, SeenAfter: seen, MaxRows: maxSessions,
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

// EndSession ends one session of a member.
func (t People) EndSession(ctx context.Context, user connectors.UserID, id connectors.SessionID) error {
	n, err := t.q.EndMemberSession(ctx, t.id, user, id)
	return affectedError(n, err, "session")
}

// EndSessions signs a member out of this tenant: their sessions and OAuth clients no longer open it. Their
// other tenants stay open.
func (t People) EndSessions(ctx context.Context, user connectors.UserID) error {
	n, err := t.q.SignMemberOut(ctx, t.id, user)
	return affectedError(n, err, "member")
}

// EndSSOSessions ends the sessions that began at the tenant's provider, and the clients of members that had
// signed in there.
func (t People) EndSSOSessions(ctx context.Context) error {
	return t.ensureTx(ctx, func(tx *Tenant) error {
		if err := tx.q.DeleteSSOClients(ctx, tx.id, nil); err != nil {
			return err
		}
		return tx.q.EndSSOSessions(ctx, tx.id)
	})
}

// EndSSOPrograms ends the clients that a member authorized after signing in at the tenant's provider.
func (t People) EndSSOPrograms(ctx context.Context, user connectors.UserID) error {
	return t.q.DeleteSSOClients(ctx, t.id, &user.UUID)
}
