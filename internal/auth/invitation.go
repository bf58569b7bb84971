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

// The last segments of the problem types that say why an invitation's link opens nothing.
const (
	TypeInvitationUnknown = "invitation-unknown" // never made, or replaced by a newer link
	TypeInvitationLapsed  = "invitation-lapsed"
	TypeInvitationUsed    = "invitation-used"
	TypeInvitationRevoked = "invitation-revoked"
	TypeInvitationAddress = "invitation-address" // it is for another address than the one that is signed in
)

// Invite asks whoever has an e-mail address to become a member of the actor's tenant. The token of the link is returned here and never
// again; a hash of it is stored. Whether the address has an account in another tenant makes no difference, and cannot be told from this.
func (s *Service) Invite(ctx context.Context, a Actor, email string, role connectors.Role) (connectors.Invitation, secret.Text, error) {
	if err := a.Require(connectors.PermOwn); err != nil {
		return connectors.Invitation{}, "", err
	}
	if err := checkInvitation(email, role); err != nil {
		return connectors.Invitation{}, "", err
	}
	return s.link(ctx, a, "member.invite", nil, func(tx *store.Tenant, link store.InvitationLink) (connectors.Invitation, error) {
		return tx.Invite(ctx, Account(email), role, link)
	})
}

// SendInvitation gives an open invitation of the actor's tenant a new link, for another 72 hours. The one before opens nothing any more.
func (s *Service) SendInvitation(ctx context.Context, a Actor, id connectors.InvitationID) (connectors.Invitation, secret.Text, error) {
	if err := a.Require(connectors.PermOwn); err != nil {
		return connectors.Invitation{}, "", err
	}
	return s.link(ctx, a, "member.invite_again", store.OfInvitation(id), func(tx *store.Tenant, link store.InvitationLink) (connectors.Invitation, error) {
		return tx.SendInvitation(ctx, id, link)
	})
}

// RevokeInvitation takes an open invitation of the actor's tenant back.
func (s *Service) RevokeInvitation(ctx context.Context, a Actor, id connectors.InvitationID) error {
	if err := a.Require(connectors.PermOwn); err != nil {
		return err
	}
	return s.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		was, err := tx.Before(ctx, store.OfInvitation(id))
		if err != nil {
			return err
		}
		i, err := tx.RevokeInvitation(ctx, id)
		if err != nil {
			return err
		}
		return tx.RecordChange(ctx, a.Event("member.uninvite", i.Email), was, store.OfInvitation(id))
	})
}

// link makes a token, and has an invitation stored under its hash; is: the one that is there, nil for none.
func (s *Service) link(
	ctx context.Context, a Actor, action string, is store.Subject, save func(*store.Tenant, store.InvitationLink) (connectors.Invitation, error),
) (connectors.Invitation, secret.Text, error) {
	random := make([]byte, 32)
	_, _ = rand.Read(random) // never fails: crypto/rand ends the program instead
	token := secret.Text(base64.RawURLEncoding.EncodeToString(random))
	link := store.InvitationLink{
		TokenHash: tokenHash(token), ExpiresAt: s.now().Add(connectors.InvitationLife), By: a.ID(), ByName: a.Name,
	}
	var invitation connectors.Invitation
	err := s.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) (err error) {
		var was store.State
		if is != nil {
			if was, err = tx.Before(ctx, is); err != nil {
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

// InvitationPath is the page that takes an invitation's token, as a path with query.
func InvitationPath(token secret.Text) string {
	return "/setup/invitation?token=" + url.QueryEscape(token.Reveal())
}

// Invited is an invitation that its link opens.
type Invited struct {
	Tenant connectors.Tenant
	connectors.Invitation
}

// Invitation is what a link's token opens; why it opens nothing is the fault's type. Tokens that were never made are counted, and from
// one address a few are enough.
func (s *Service) Invitation(ctx context.Context, token secret.Text, address string) (Invited, error) {
	if err := s.limitLinks(ctx, address); err != nil {
		return Invited{}, err
	}
	tenant, invitation, err := s.store.System().Invitation(ctx, tokenHash(token))
	if fault.Is(err, fault.NotFound) {
		return Invited{}, s.unknownLink(ctx, address)
	}
	if err != nil {
		return Invited{}, fmt.Errorf("find invitation: %w", err)
	}
	return Invited{Tenant: tenant, Invitation: invitation}, s.opens(invitation)
}

// opens tells why an invitation's link opens nothing; nil where it does.
func (s *Service) opens(i connectors.Invitation) error {
	switch i.State(s.now()) {
	case connectors.InvitationLapsed:
		return fault.Errorf(fault.NotFound, "A link opens for 72 hours. Ask %s to send it again.", inviter(i)).WithType(TypeInvitationLapsed)
	case connectors.InvitationAccepted:
		return fault.Errorf(fault.NotFound, "A link works once. If it was you who used it, sign in.").WithType(TypeInvitationUsed)
	case connectors.InvitationRevoked:
		return fault.Errorf(fault.NotFound, "The invitation was taken back. Ask %s for another if you should have one.", inviter(i)).WithType(TypeInvitationRevoked)
	}
	return nil
}

func inviter(i connectors.Invitation) string {
	if i.InvitedBy == "" {
		return "whoever invited you"
	}
	return i.InvitedBy
}

// AcceptInvitation makes a member of whoever brings the token: with a new account under the invitation's address, or with the account
// that a person made under this address, and then only by its own password. Wrong ones count as wrong sign-ins. Where p is separate, an
// account of another password is left alone, and the new one opens this tenant alone: whoever made the other cannot keep the person out.
// p's address and role do not count.
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
	// Whoever was a member somewhere and is nowhere any more begins anew, with a password that nobody knows from before.
	if err := s.store.System().ForgetWithoutTenant(ctx, i.Email); err != nil {
		return connectors.Tenant{}, connectors.Member{}, fmt.Errorf("forget an account without tenant: %w", err)
	}
	known, err := s.ownsAccount(ctx, p, address)
	if err != nil {
		return connectors.Tenant{}, connectors.Member{}, err
	}
	m.Issued = p.Separate && !known
	m.OnlyNew = !known // one that comes into being meanwhile has a password that nobody was asked for
	return s.join(ctx, token, m, address)
}

// JoinAs accepts an invitation for a person who is signed in, under the same address.
func (s *Service) JoinAs(ctx context.Context, a Actor, token secret.Text, address string) (connectors.Tenant, connectors.Member, error) {
	i, err := s.Invitation(ctx, token, address)
	if err != nil {
		return connectors.Tenant{}, connectors.Member{}, err
	}
	if Account(a.Email) != i.Email {
		return connectors.Tenant{}, connectors.Member{}, fault.Errorf(fault.Conflict,
			"You are signed in as %s, and the invitation is for %s. Sign out, and open the link again.", a.Email, i.Email).WithType(TypeInvitationAddress)
	}
	if a.BySSO { // by the word of one tenant's provider nobody gets into another tenant
		return connectors.Tenant{}, connectors.Member{}, fault.Errorf(fault.Conflict,
			"You are signed in by the single sign-on of another organisation. Sign out, and open the link again.").WithType(TypeInvitationAddress)
	}
	if a.Issued { // whoever issued the account may know its password
		return connectors.Tenant{}, connectors.Member{}, fault.Errorf(fault.Conflict,
			"You are signed in with an account that opens %s alone. Sign out, and open the link again.", a.Tenant.Name).WithType(TypeInvitationAddress)
	}
	return s.join(ctx, token, store.NewMember{}, address)
}

func (s *Service) join(ctx context.Context, token secret.Text, m store.NewMember, address string) (connectors.Tenant, connectors.Member, error) {
	tenant, member, err := s.store.System().TakeInvitation(ctx, tokenHash(token), m, s.opens, func(_ connectors.Tenant, m connectors.Member) store.Event {
		return joined(m, address)
	})
	if fault.Is(err, fault.NotFound) && fault.As(err).Type == "" {
		return tenant, member, unknownInvitation() // it was sent again at this moment
	}
	return tenant, member, err
}

// joined is the entry of a person who has come in by a link.
func joined(m connectors.Member, address string) store.Event {
	e := Actor{Kind: KindPerson, UserID: &m.UserID, Name: m.DisplayName(), Address: address}.Event("member.join", m.Email)
	e.Detail = map[string]any{"role": m.Role}
	return e
}

// limitLinks refuses an address that has brought too many tokens that were never made. These are no wrong passwords, and hold nobody up
// who signs in.
func (s *Service) limitLinks(ctx context.Context, address string) error {
	_, byAddress, err := s.store.System().SignInFailures(ctx, linkFailures, linksFrom(address), s.now().Add(-failureWindow))
	if err != nil {
		return fmt.Errorf("count unknown invitations: %w", err)
	}
	if byAddress < maxFailures {
		return nil
	}
	f := fault.Errorf(fault.RateLimited, "Too many links that open nothing came from here. Try again in 15 minutes.")
	f.RetryAfter = int(failureWindow.Seconds())
	return f
}

// linkFailures stands where wrong passwords have an account; no e-mail address reads so.
const linkFailures = "an invitation"

func linksFrom(address string) string { return linkFailures + " from " + network(address) }

func (s *Service) unknownLink(ctx context.Context, address string) error {
	// The count must be kept even if the caller hangs up.
	if err := s.store.System().RecordSignInFailure(context.WithoutCancel(ctx), linkFailures, linksFrom(address)); err != nil {
		return fmt.Errorf("record an unknown invitation: %w", err)
	}
	return unknownInvitation()
}

func unknownInvitation() error {
	return fault.Errorf(fault.NotFound, "Was it sent again? Then the newest link is the one that works. Is it whole? Copy all of it.").WithType(TypeInvitationUnknown)
}

func checkInvitation(email string, role connectors.Role) error {
	var fields []fault.Field
	if !isAddress(email) {
		fields = append(fields, badAddress())
	}
	if !role.Valid() {
		fields = append(fields, badRole())
	}
	return fault.InvalidFields(fields...)
}

func isAddress(email string) bool {
	addr, err := mail.ParseAddress(Account(email))
	return err == nil && addr.Address == Account(email) && len(addr.Address) <= 254
}

func badAddress() fault.Field {
	return fault.Field{Location: "email", Message: "This is not an e-mail address."}
}

func tokenHash(token secret.Text) []byte {
	sum := sha256.Sum256([]byte(strings.TrimSpace(token.Reveal())))
	return sum[:]
}
