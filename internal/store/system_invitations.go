package store

import (
	"context"

	"patchbay/internal/connectors"
	"patchbay/internal/store/dbgen"
)

// Invitation finds an invitation in any tenant by the hash of its link's token, whatever its state.
func (s *System) Invitation(ctx context.Context, tokenHash []byte) (connectors.Tenant, connectors.Invitation, error) {
	row, err := s.q.InvitationByToken(ctx, tokenHash)
	if err != nil {
		return connectors.Tenant{}, connectors.Invitation{}, found(err, "invitation")
	}
	return tenantOf(row.Tenant), invitationOf(dbgen.InviteRow{
		ID: row.ID, Email: row.Email, Role: row.Role, InvitedByName: row.InvitedByName, CreatedAt: row.CreatedAt, SentAt: row.SentAt,
		Sends: row.Sends, ExpiresAt: row.ExpiresAt, AcceptedAt: row.AcceptedAt, RevokedAt: row.RevokedAt,
	}), nil
}

// TakeInvitation makes a member of whoever was invited, with the role and the address of the invitation, whatever m says of these, and
// ends the invitation, all or nothing. check looks at it while nobody else can use it; event tells the tenant's audit log of the member.
func (s *System) TakeInvitation(
	ctx context.Context, tokenHash []byte, m NewMember, check func(connectors.Invitation) error, event func(connectors.Tenant, connectors.Member) Event,
) (connectors.Tenant, connectors.Member, error) {
	var tenant connectors.Tenant
	var member connectors.Member
	err := s.tx(ctx, func(tx *System) error {
		if _, err := tx.q.LockInvitation(ctx, tokenHash); err != nil {
			return found(err, "invitation")
		}
		t, invitation, err := tx.Invitation(ctx, tokenHash)
		if err != nil {
			return err
		}
		if err := check(invitation); err != nil {
			return err
		}
		n, err := tx.q.AcceptInvitation(ctx, t.ID, invitation.ID)
		if err := touched(n, err, "invitation"); err != nil {
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
		tenant, member = t, memberOf(row)
		return tx.tenant(t.ID).RecordChange(ctx, event(tenant, member), nil, OfMember(user))
	})
	if err != nil {
		return connectors.Tenant{}, connectors.Member{}, err
	}
	return tenant, member, nil
}

// Seen notes that a person uses a tenant's dashboard.
func (s *System) Seen(ctx context.Context, user connectors.UserID, tenant connectors.TenantID) error {
	return s.q.Seen(ctx, tenant, user)
}
