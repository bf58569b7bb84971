package store_test

import (
	"context"
	"crypto/sha256"
	"testing"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// invitationTo is an open invitation of the victim's.
type invitationTo struct{ invitation connectors.Invitation }

// linkOf is an invitation's link with token text.
func linkOf(text string) store.InvitationLink {
	sum := sha256.Sum256([]byte(text))
	return store.InvitationLink{TokenHash: sum[:], ExpiresAt: time.Now().Add(connectors.InvitationLife), ByName: "Ada"}
}

// invitationAttempts are the outsider's attempts at invitations.
var invitationAttempts = map[string]attempt{
	"People.Invitations": func(ctx context.Context, o outsider) (bool, error) {
		return some(o.door.People().Invitations(ctx, store.Page{}))
	},
	"People.Invite": func(ctx context.Context, o outsider) (bool, error) {
		mine, err := o.door.People().Invite(ctx, o.invitation.Email, connectors.RoleOwner, linkOf("mine"))
		if err != nil {
			return true, err // a Conflict would reveal another tenant's invitation
		}
		member, err := o.door.People().Invite(ctx, o.member.Email, connectors.RoleOwner, linkOf("member"))
		if err != nil {
			return true, err // and this one that the address has an account
		}
		for _, i := range []connectors.Invitation{mine, member} {
			if _, err := o.door.People().RevokeInvitation(ctx, i.ID); err != nil {
				return false, err
			}
		}
		return mine.ID == o.invitation.ID, nil
	},
	"People.SendInvitation": func(ctx context.Context, o outsider) (bool, error) {
		_, err := o.door.People().SendInvitation(ctx, o.invitation.ID, linkOf("stolen"))
		if _, _, stolen := o.St.System().People().Invitation(ctx, linkOf("stolen").TokenHash); !fault.Is(stolen, fault.NotFound) {
			return true, stolen
		}
		return true, err
	},
	"People.RevokeInvitation": func(ctx context.Context, o outsider) (bool, error) {
		return one(o.door.People().RevokeInvitation(ctx, o.invitation.ID))
	},
}

func (o *outsider) fillInvitations(t *testing.T) {
	t.Helper()
	i, err := o.Door().People().Invite(t.Context(), "asked@example.com", connectors.RoleAdmin, linkOf("theirs"))
	if err != nil {
		t.Fatal(err)
	}
	o.invitation = i
}
