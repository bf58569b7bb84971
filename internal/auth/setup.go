package auth

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

// SetupLink makes a single-use token for a tenant without an owner; only its hash is stored. [Service.Setup]
// with it makes the owner. It fails with Conflict if there is one.
func (s *Service) SetupLink(ctx context.Context, tenant connectors.TenantID) (secret.Text, error) {
	owned, err := s.store.System().HasOwner(ctx, tenant)
	if err != nil {
		return "", fmt.Errorf("look for an owner: %w", err)
	}
	if owned {
		return "", fault.Errorf(fault.Conflict, "The organisation already has an owner.")
	}
	random := make([]byte, 32)
	_, _ = rand.Read(random) // never fails: crypto/rand aborts the program instead
	token := secret.Text(base64.RawURLEncoding.EncodeToString(random))
	if err := s.store.System().SaveSetupLink(ctx, tenant, tokenHash(token)); err != nil {
		return "", fmt.Errorf("save setup link: %w", err)
	}
	return token, nil
}

// CheckSetup returns the tenant of a valid setup token. It fails with NotFound for a used or unknown one.
func (s *Service) CheckSetup(ctx context.Context, token secret.Text) (connectors.Tenant, error) {
	id, err := s.store.System().SetupLink(ctx, tokenHash(token))
	if err != nil {
		return connectors.Tenant{}, setupError(err)
	}
	tenant, err := s.store.Tenant(id).Self(ctx)
	return tenant, setupError(err)
}

// Person is a person to make a member.
type Person struct {
	Email        string
	Name         string
	Password     secret.Text // of the existing account, if there is one
	Role         connectors.Role
	Organisation string // new name of the tenant in Setup; empty: as it is
	Separate     bool   // if the password is not the account's, make another account for the invitation's tenant alone
}

// Setup makes the owner of a new tenant and ends all its setup links, in one transaction. An existing account
// becomes the owner only by its own password, so a link cannot give the tenant to a stranger or test passwords.
// Failures count as failed sign-ins, also for the address.
func (s *Service) Setup(ctx context.Context, token secret.Text, p Person, address string) (connectors.Member, error) {
	tenant, err := s.CheckSetup(ctx, token)
	if err != nil {
		return connectors.Member{}, err
	}
	if p.Organisation = strings.TrimSpace(p.Organisation); p.Organisation != "" {
		if fields := checkName(p.Organisation); fields != nil {
			return connectors.Member{}, fault.InvalidFields(fault.Field{Location: "organisation", Message: fields[0].Message})
		}
	}
	p.Role = connectors.RoleOwner
	m, err := s.newMember(ctx, p)
	if err != nil {
		return connectors.Member{}, err
	}
	known, err := s.ownsAccount(ctx, p, address)
	if err != nil {
		return connectors.Member{}, err
	}
	m.OnlyNew = !known // an account created meanwhile has a password that was not checked
	_, member, err := s.store.System().TakeSetupLink(ctx, tokenHash(token), m, func(m connectors.Member) store.Event {
		return newJoinEvent(m, address)
	})
	if err != nil {
		return connectors.Member{}, setupError(err)
	}
	if p.Organisation == "" || p.Organisation == tenant.Name {
		return member, nil
	}
	owner := Actor{Kind: KindPerson, Tenant: tenant, Role: member.Role, UserID: &member.UserID, Name: member.DisplayName(), Email: member.Email, Address: address}
	return member, s.RenameTenant(ctx, owner, p.Organisation)
}

// SignInWays reads what the sign-in page can offer.
func (s *Service) SignInWays(ctx context.Context) (store.SignInWays, error) {
	return s.store.System().People().SignInWays(ctx)
}

// ownsAccount reports whether the address has a person's own account. Its password must be p's, unless
// p.Separate. A password of an account that a tenant issued is refused: an owner of that tenant may know it.
func (s *Service) ownsAccount(ctx context.Context, p Person, address string) (bool, error) {
	users, err := s.store.System().People().UsersByAddress(ctx, NormalizeEmail(p.Email))
	if err != nil || len(users) == 0 {
		return false, err
	}
	own := slices.ContainsFunc(users, func(u store.User) bool { return u.IssuedBy == nil })
	user, err := s.SignIn(ctx, p.Email, p.Password, address)
	switch {
	case err == nil && user.IssuedBy != nil:
		return own, issuedPassword("password")
	case !fault.Is(err, fault.Unauthenticated):
		return own, err
	case own && !p.Separate:
		return true, fault.InvalidFields(fault.Field{
			Location: "password", Message: "Enter the password of your existing account.",
		})
	default:
		return false, nil
	}
}

func setupError(err error) error {
	if fault.Is(err, fault.NotFound) {
		return fault.Errorf(fault.NotFound, "This setup link was used or replaced. Until there is an owner, Patchbay prints a new one at each start.")
	}
	if err != nil {
		return fmt.Errorf("setup link: %w", err)
	}
	return nil
}

func (s *Service) newMember(ctx context.Context, p Person) (store.NewMember, error) {
	if err := checkPerson(p); err != nil {
		return store.NewMember{}, err
	}
	hash, err := s.HashPassword(ctx, p.Email, p.Password)
	if err != nil {
		return store.NewMember{}, err
	}
	return store.NewMember{Email: NormalizeEmail(p.Email), Name: strings.TrimSpace(p.Name), PasswordHash: hash, Role: p.Role}, nil
}
