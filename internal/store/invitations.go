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

// InvitationLink is the link of an invitation. Sending again replaces it.
type InvitationLink struct {
	TokenHash []byte // SHA-256 of the link's token
	ExpiresAt time.Time
	By        *uuid.UUID // person or key that sends it; nil: neither
	ByName    string
}

// Invitations lists the tenant's open invitations, newest first, including those with an expired link.
func (t People) Invitations(ctx context.Context, p Page) (List[connectors.Invitation], error) {
	before, err := p.afterID("invitations")
	if err != nil {
		return List[connectors.Invitation]{}, err
	}
	rows, err := t.q.Invitations(ctx, t.id, before, p.rowLimit())
	if err != nil {
		return List[connectors.Invitation]{}, err
	}
	item := func(r dbgen.InvitationsRow) connectors.Invitation { return toInvitation(dbgen.CreateInvitationRow(r)) }
	return newList(p, rows, item, "invitations", func(r dbgen.InvitationsRow) []string { return []string{r.ID.String()} }), nil
}

// Invite stores an invitation. An address of a member or of an open invitation is a Conflict. Accounts in other
// tenants make no difference.
func (t People) Invite(ctx context.Context, email string, role connectors.Role, link InvitationLink) (connectors.Invitation, error) {
	row, err := t.q.CreateInvitation(ctx, dbgen.CreateInvitationParams{
		TenantID: t.id, ID: newID(), Email: cleanText(normalizeEmail(email)), Role: role, TokenHash: link.TokenHash,
		InvitedBy: link.By, InvitedByName: cleanText(link.ByName), ExpiresAt: link.ExpiresAt,
	})
	if errors.Is(err, pgx.ErrNoRows) {
		f := fault.Errorf(fault.Conflict, "Already a member.")
		f.Fields = []fault.Field{{Location: "email", Message: f.Message}}
		return connectors.Invitation{}, f
	}
	if err != nil {
		return connectors.Invitation{}, err
	}
	return toInvitation(row), nil
}

// SendInvitation replaces the link of an open invitation.
func (t People) SendInvitation(ctx context.Context, id connectors.InvitationID, link InvitationLink) (connectors.Invitation, error) {
	row, err := t.q.SendInvitation(ctx, dbgen.SendInvitationParams{
		TenantID: t.id, ID: id, TokenHash: link.TokenHash, ExpiresAt: link.ExpiresAt, InvitedBy: link.By, InvitedByName: cleanText(link.ByName),
	})
	if err != nil {
		return connectors.Invitation{}, rowError(err, "open invitation")
	}
	return toInvitation(dbgen.CreateInvitationRow(row)), nil
}

// RevokeInvitation revokes an open invitation.
func (t People) RevokeInvitation(ctx context.Context, id connectors.InvitationID) (connectors.Invitation, error) {
	row, err := t.q.RevokeInvitation(ctx, t.id, id)
	if err != nil {
		return connectors.Invitation{}, rowError(err, "open invitation")
	}
	return toInvitation(dbgen.CreateInvitationRow(row)), nil
}

func toInvitation(r dbgen.CreateInvitationRow) connectors.Invitation {
	return connectors.Invitation{
		ID: r.ID, Email: r.Email, Role: r.Role, InvitedBy: r.InvitedByName, CreatedAt: r.CreatedAt.UTC(),
		SentAt: r.SentAt.UTC(), Sends: int(r.Sends), ExpiresAt: r.ExpiresAt.UTC(),
		AcceptedAt: toUTC(r.AcceptedAt), RevokedAt: toUTC(r.RevokedAt),
	}
}
