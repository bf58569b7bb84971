package auth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/mail"
	"net/url"
	"strings"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

// Problem types of an invitation link that does not open.
const (
	TypeInvitationUnknown = "invitation-unknown" // never issued, or replaced by a newer link
	TypeInvitationLapsed  = "invitation-lapsed"
	TypeInvitationUsed    = "invitation-used"
	TypeInvitationRevoked = "invitation-revoked"
	TypeInvitationAddress = "invitation-address" // for another address than the signed-in one
)

// Invite invites an e-mail address to the actor's tenant. Only here is the link's token returned; a hash of it
// is stored. The result does not reveal accounts in other tenants.
func (s *Service) Invite(ctx context.Context, a Actor, email string, role connectors.Role) (connectors.Invitation, secret.Text, error) {
	if err := a.Require(connectors.PermOwn); err != nil {
		return connectors.Invitation{}, "", err
	}
	if err := checkInvitation(email, role); err != nil {
		return connectors.Invitation{}, "", err
	}
	return s.issueLink(ctx, a, "member.invite", nil, func(tx *store.Tenant, link store.InvitationLink) (connectors.Invitation, error) {
		return tx.People().Invite(ctx, NormalizeEmail(email), role, link)
	})
}

// SendInvitation issues a new link for an open invitation, valid for 72 hours. The previous link stops working.
func (s *Service) SendInvitation(ctx context.Context, a Actor, id connectors.InvitationID) (connectors.Invitation, secret.Text, error) {
	if err := a.Require(connectors.PermOwn); err != nil {
		return connectors.Invitation{}, "", err
	}
	return s.issueLink(ctx, a, "member.invite_again", store.OfInvitation(id), func(tx *store.Tenant, link store.InvitationLink) (connectors.Invitation, error) {
		return tx.People().SendInvitation(ctx, id, link)
	})
}

// RevokeInvitation revokes an open invitation.
func (s *Service) RevokeInvitation(ctx context.Context, a Actor, id connectors.InvitationID) error {
	if err := a.Require(connectors.PermOwn); err != nil {
		return err
	}
	return s.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		was, err := tx.LockAndReadState(ctx, store.OfInvitation(id))
		if err != nil {
			return err
		}
		i, err := tx.People().RevokeInvitation(ctx, id)
		if err != nil {
			return err
		}
		return tx.RecordChange(ctx, a.Event("member.uninvite", i.Email), was, store.OfInvitation(id))
	})
}

// issueLink makes a token and stores an invitation with its hash; is is the existing invitation, nil for none.
func (s *Service) issueLink(
	ctx context.Context, a Actor, action string, is store.StateReader, save func(*store.Tenant, store.InvitationLink) (connectors.Invitation, error),
) (connectors.Invitation, secret.Text, error) {
	random := make([]byte, 32)
	_, _ = rand.Read(random) // never fails: crypto/rand aborts the program instead
	token := secret.Text(base64.RawURLEncoding.EncodeToString(random))
	link := store.InvitationLink{
		TokenHash: tokenHash(token), ExpiresAt: s.now().Add(connectors.InvitationLife), By: a.ID(), ByName: a.Name,
	}
	var invitation connectors.Invitation
	err := s.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) (err error) {
		var was store.State
		if is != nil {
			if was, err = tx.LockAndReadState(ctx, is); err != nil {
				return err
			}
		}
		if invitation, err = save(tx, link); err != nil {
			return err
		}
		e := a.Event(action, invitation.Email)
		e.Detail = map[string]any{"invitation_id": invitation.ID.String(), "role": invitation.Role}
		return tx.RecordChange(ctx, e, was, store.OfInvitation(invitation.ID))
	})
	if err != nil {
		return connectors.Invitation{}, "", err
	}
	return invitation, token, nil
}

// InvitationPath returns the page for an invitation token, as a path with query.
func InvitationPath(token secret.Text) string {
	return "/setup/invitation?token=" + url.QueryEscape(token.Reveal())
}

// OpenInvitation is an invitation that a link opens.
type OpenInvitation struct {
	Tenant connectors.Tenant
	connectors.Invitation
}

// Invitation returns the invitation of a token; the fault's type explains a failure. Unknown tokens count per
// address, up to a limit.
func (s *Service) Invitation(ctx context.Context, token secret.Text, address string) (OpenInvitation, error) {
	if err := s.limitLinks(ctx, address); err != nil {
		return OpenInvitation{}, err
	}
	tenant, invitation, err := s.store.System().People().Invitation(ctx, tokenHash(token))
	if fault.Is(err, fault.NotFound) {
		return OpenInvitation{}, s.unknownLink(ctx, address)
	}
	if err != nil {
		return OpenInvitation{}, fmt.Errorf("find invitation: %w", err)
	}
	return OpenInvitation{Tenant: tenant, Invitation: invitation}, s.checkOpen(invitation)
}

// checkOpen explains why a link does not open; nil: it does.
func (s *Service) checkOpen(i connectors.Invitation) error {
	switch i.State(s.now()) {
	case connectors.InvitationLapsed:
		return fault.Errorf(fault.NotFound, "Invitations last 72 hours. Ask %s to resend it.", inviterName(i)).WithType(TypeInvitationLapsed)
	case connectors.InvitationAccepted:
		return fault.Errorf(fault.NotFound, "If it was you, sign in.").WithType(TypeInvitationUsed)
	case connectors.InvitationRevoked:
		return fault.Errorf(fault.NotFound, "If that's a mistake, ask %s for another.", inviterName(i)).WithType(TypeInvitationRevoked)
	}
	return nil
}

func inviterName(i connectors.Invitation) string {
	if i.InvitedBy == "" {
		return "an owner"
	}
	return i.InvitedBy
}

// AcceptInvitation makes the token's holder a member: with a new account for the invited address, or with the
// person's own account after its password, where failures count as failed sign-ins. p.Separate leaves an own
// account with another password alone and makes one for this tenant only, so that a squatter of the address
// cannot lock the person out. p's address and role are ignored.
func (s *Service) AcceptInvitation(ctx context.Context, token secret.Text, p Person, address string) (connectors.Tenant, connectors.Member, error) {
	i, err := s.Invitation(ctx, token, address)
	if err != nil {
		return connectors.Tenant{}, connectors.Member{}, err
	}
	p.Email, p.Role = i.Email, i.Role
	m, err := s.newMember(ctx, p)
	if err != nil {
		return connectors.Tenant{}, connectors.Member{}, err
	}
	// A person without any tenant starts anew, with a new password.
	if err := s.store.System().People().DeleteOrphanedUser(ctx, i.Email); err != nil {
		return connectors.Tenant{}, connectors.Member{}, fmt.Errorf("forget an account without tenant: %w", err)
	}
	known, err := s.ownsAccount(ctx, p, address)
	if err != nil {
		return connectors.Tenant{}, connectors.Member{}, err
	}
	m.Issued = p.Separate && !known
	m.OnlyNew = !known // an account created meanwhile has a password that was not checked
	return s.joinTenant(ctx, token, m, address)
}

// JoinAs accepts an invitation for a signed-in person of the same address.
func (s *Service) JoinAs(ctx context.Context, a Actor, token secret.Text, address string) (connectors.Tenant, connectors.Member, error) {
	i, err := s.Invitation(ctx, token, address)
	if err != nil {
		return connectors.Tenant{}, connectors.Member{}, err
	}
	if NormalizeEmail(a.Email) != i.Email {
		return connectors.Tenant{}, connectors.Member{}, fault.Errorf(fault.Conflict,
			"Signed in as %s; the invitation is for %s. Sign out and reopen the link.", a.Email, i.Email).WithType(TypeInvitationAddress)
	}
	if a.BySSO { // a sign-in at one tenant's provider opens no other tenant
		return connectors.Tenant{}, connectors.Member{}, fault.Errorf(fault.Conflict,
			"You're signed in through another organisation. Sign out and reopen the link.").WithType(TypeInvitationAddress)
	}
	if a.Issued { // the issuing tenant may know the account's password
		return connectors.Tenant{}, connectors.Member{}, fault.Errorf(fault.Conflict,
			"Your account only works for %s. Sign out and reopen the link.", a.Tenant.Name).WithType(TypeInvitationAddress)
	}
	return s.joinTenant(ctx, token, store.NewMember{}, address)
}

func (s *Service) joinTenant(ctx context.Context, token secret.Text, m store.NewMember, address string) (connectors.Tenant, connectors.Member, error) {
	tenant, member, err := s.store.System().People().TakeInvitation(ctx, tokenHash(token), m, s.checkOpen, func(_ connectors.Tenant, m connectors.Member) store.Event {
		return newJoinEvent(m, address)
	})
	if fault.Is(err, fault.NotFound) && fault.As(err).Type == "" {
		return tenant, member, errUnknownInvitation() // it was sent again concurrently
	}
	return tenant, member, err
}

// newJoinEvent returns the audit event of a person that joined by a link.
func newJoinEvent(m connectors.Member, address string) store.Event {
	e := Actor{Kind: KindPerson, UserID: &m.UserID, Name: m.DisplayName(), Address: address}.Event("member.join", m.Email)
	e.Detail = map[string]any{"role": m.Role}
	return e
}

// limitLinks fails for an address with too many unknown tokens. These do not count as wrong passwords, so they
// block no sign-in.
func (s *Service) limitLinks(ctx context.Context, address string) error {
	_, byAddress, err := s.store.System().People().SignInFailures(ctx, linkFailures, linkFailureAddress(address), s.now().Add(-failureWindow))
	if err != nil {
		return fmt.Errorf("count unknown invitations: %w", err)
	}
	if byAddress < maxFailures {
		return nil
	}
	f := fault.Errorf(fault.RateLimited, "Too many invalid links. Try again in 15 minutes.")
	f.RetryAfter = int(failureWindow.Seconds())
	return f
}

// linkFailures is the account name of unknown tokens in the failure table; no e-mail address equals it.
const linkFailures = "an invitation"

func linkFailureAddress(address string) string { return linkFailures + " from " + toNetwork(address) }

func (s *Service) unknownLink(ctx context.Context, address string) error {
	// Counted even if the caller disconnects.
	if err := s.store.System().People().RecordSignInFailure(context.WithoutCancel(ctx), linkFailures, linkFailureAddress(address)); err != nil {
		return fmt.Errorf("record an unknown invitation: %w", err)
	}
	return errUnknownInvitation()
}

func errUnknownInvitation() error {
	return fault.Errorf(fault.NotFound, "Use the newest link, and copy all of it.").WithType(TypeInvitationUnknown)
}

func checkInvitation(email string, role connectors.Role) error {
	var fields []fault.Field
	if !isAddress(email) {
		fields = append(fields, newAddressFault())
	}
	if !role.Valid() {
		fields = append(fields, newRoleFault())
	}
	return fault.InvalidFields(fields...)
}

func isAddress(email string) bool {
	addr, err := mail.ParseAddress(NormalizeEmail(email))
	return err == nil && addr.Address == NormalizeEmail(email) && len(addr.Address) <= 254
}

func newAddressFault() fault.Field {
	return fault.Field{Location: "email", Message: "Enter an email address."}
}

func tokenHash(token secret.Text) []byte {
	sum := sha256.Sum256([]byte(strings.TrimSpace(token.Reveal())))
	return sum[:]
}
