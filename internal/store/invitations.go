package store

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store/dbgen"
)

// InvitationLink is how an invitation is reached: from when it is sent until it is sent again.
type InvitationLink struct {
	TokenHash []byte // SHA-256 of what the link holds
	ExpiresAt time.Time
	By        *uuid.UUID // the person who sends it, or the key; nil: neither
	ByName    string
}

// Invitations lists the tenant's open invitations, newest first; those whose link has lapsed, too.
func (t *Tenant) Invitations(ctx context.Context, p Page) (List[connectors.Invitation], error) {
	before, err := p.afterID("invitations")
	if err != nil {
		return List[connectors.Invitation]{}, err
	}
	rows, err := t.q.Invitations(ctx, t.id, before, p.rows())
	if err != nil {
		return List[connectors.Invitation]{}, err
	}
	item := func(r dbgen.InvitationsRow) connectors.Invitation { return invitationOf(dbgen.InviteRow(r)) }
	return listOf(p, rows, item, "invitations", func(r dbgen.InvitationsRow) []string { return []string{r.ID.String()} }), nil
}

// Invite stores an invitation. An address that a member has, or that is invited already, is a Conflict; whether it has an account in
// another tenant makes no difference.
func (t *Tenant) Invite(ctx context.Context, email string, role connectors.Role, link InvitationLink) (connectors.Invitation, error) {
	row, err := t.q.Invite(ctx, dbgen.InviteParams{
		TenantID: t.id, ID: newID(), Email: clean(mailbox(email)), Role: role, TokenHash: link.TokenHash,
		InvitedBy: link.By, InvitedByName: clean(link.ByName), ExpiresAt: link.ExpiresAt,
	})
	if errors.Is(err, pgx.ErrNoRows) {
		f := fault.Errorf(fault.Conflict, "This person is a member already.")
		f.Fields = []fault.Field{{Location: "email", Message: f.Message}}
		return connectors.Invitation{}, f
	}
	if err != nil {
		return connectors.Invitation{}, err
	}
	return invitationOf(row), nil
}

// SendInvitation gives an open invitation another link: the one before opens nothing any more.
func (t *Tenant) SendInvitation(ctx context.Context, id connectors.InvitationID, link InvitationLink) (connectors.Invitation, error) {
	row, err := t.q.SendInvitation(ctx, dbgen.SendInvitationParams{
		TenantID: t.id, ID: id, TokenHash: link.TokenHash, ExpiresAt: link.ExpiresAt, InvitedBy: link.By, InvitedByName: clean(link.ByName),
	})
	if err != nil {
		return connectors.Invitation{}, found(err, "open invitation")
	}
	return invitationOf(dbgen.InviteRow(row)), nil
}

// RevokeInvitation ends an open invitation: its link opens nothing any more.
func (t *Tenant) RevokeInvitation(ctx context.Context, id connectors.InvitationID) (connectors.Invitation, error) {
	row, err := t.q.RevokeInvitation(ctx, t.id, id)
	if err != nil {
		return connectors.Invitation{}, found(err, "open invitation")
	}
	return invitationOf(dbgen.InviteRow(row)), nil
}

func invitationOf(r dbgen.InviteRow) connectors.Invitation {
	return connectors.Invitation{
		ID: r.ID, Email: r.Email, Role: r.Role, InvitedBy: r.InvitedByName, CreatedAt: r.CreatedAt.UTC(),
		SentAt: r.SentAt.UTC(), Sends: int(r.Sends), ExpiresAt: r.ExpiresAt.UTC(),
		AcceptedAt: utc(r.AcceptedAt), RevokedAt: utc(r.RevokedAt),
	}
}
