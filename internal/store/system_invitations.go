package store

import (
	"context"

	"patchbay/internal/connectors"
	"patchbay/internal/store/dbgen"
)

// Invitation finds an invitation of any tenant and any state by the hash of its token.
func (s SystemPeople) Invitation(ctx context.Context, tokenHash []byte) (connectors.Tenant, connectors.Invitation, error) {
	row, err := s.q.InvitationByToken(ctx, tokenHash)
	if err != nil {
		return connectors.Tenant{}, connectors.Invitation{}, rowError(err, "invitation")
	}
	return toTenant(row.Tenant), toInvitation(dbgen.CreateInvitationRow{
		ID: row.ID, Email: row.Email, Role: row.Role, InvitedByName: row.InvitedByName, CreatedAt: row.CreatedAt, SentAt: row.SentAt,
		Sends: row.Sends, ExpiresAt: row.ExpiresAt, AcceptedAt: row.AcceptedAt, RevokedAt: row.RevokedAt,
	}), nil
}

// TakeInvitation makes a member with the invitation's role and address, which override m's, and closes the
// invitation, in one transaction. check inspects the locked invitation; event makes the audit entry.
func (s SystemPeople) TakeInvitation(
	ctx context.Context, tokenHash []byte, m NewMember, check func(connectors.Invitation) error, event func(connectors.Tenant, connectors.Member) Event,
) (connectors.Tenant, connectors.Member, error) {
	var tenant connectors.Tenant
	var member connectors.Member
	err := s.inTx(ctx, func(tx *System) error {
		if _, err := tx.q.LockInvitation(ctx, tokenHash); err != nil {
			return rowError(err, "invitation")
		}
		t, invitation, err := tx.People().Invitation(ctx, tokenHash)
		if err != nil {
			return err
		}
		if err := check(invitation); err != nil {
			return err
		}
		n, err := tx.q.AcceptInvitation(ctx, t.ID, invitation.ID)
		if err := affectedError(n, err, "invitation"); err != nil {
			return err
		}
		m.Email, m.Role = invitation.Email, invitation.Role
		user, err := addMember(ctx, tx.q, t.ID, m)
		if err != nil {
			return err
		}
		row, err := tx.q.Member(ctx, t.ID, user)
		if err != nil {
			return err
		}
		tenant, member = t, toMember(row)
		return tx.tenantInTx(t.ID).RecordChange(ctx, event(tenant, member), nil, OfMember(user))
	})
	if err != nil {
		return connectors.Tenant{}, connectors.Member{}, err
	}
	return tenant, member, nil
}

// MarkDashboardUsed records that a person used a tenant's dashboard.
func (s SystemPeople) MarkDashboardUsed(ctx context.Context, user connectors.UserID, tenant connectors.TenantID) error {
	return s.q.TouchMembership(ctx, tenant, user)
}
