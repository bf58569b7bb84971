package auth

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

// SetupLink makes a single-use token for a tenant that has no owner yet. Whoever brings it to [Service.Setup] becomes the
// owner. Only a hash is stored. It is a Conflict where the tenant has an owner.
func (s *Service) SetupLink(ctx context.Context, tenant connectors.TenantID) (secret.Text, error) {
	owned, err := s.store.System().HasOwner(ctx, tenant)
	if err != nil {
		return "", fmt.Errorf("look for an owner: %w", err)
	}
	if owned {
		return "", fault.Errorf(fault.Conflict, "The tenant has an owner already.")
	}
	random := make([]byte, 32)
	_, _ = rand.Read(random) // never fails: crypto/rand ends the program instead
	token := secret.Text(base64.RawURLEncoding.EncodeToString(random))
	if err := s.store.System().SaveSetupLink(ctx, tenant, tokenHash(token)); err != nil {
		return "", fmt.Errorf("save setup link: %w", err)
	}
	return token, nil
}

// SetupPath is the page that takes a setup token, as a path with query.
func SetupPath(token secret.Text) string { return "/setup?token=" + url.QueryEscape(token.Reveal()) }

// CheckSetup returns the tenant of a setup token that can still be used: NotFound where it was used or never made.
func (s *Service) CheckSetup(ctx context.Context, token secret.Text) (connectors.Tenant, error) {
	id, err := s.store.System().SetupLink(ctx, tokenHash(token))
	if err != nil {
		return connectors.Tenant{}, setupError(err)
	}
	tenant, err := s.store.Tenant(id).Self(ctx)
	return tenant, setupError(err)
}

// Person is someone to be made a member.
type Person struct {
	Email    string
	Name     string
	Password secret.Text // that of the account, where one exists already
	Role     connectors.Role
	Separate bool // where the password is not that of the account: make another one, which opens the invitation's tenant alone
}

// Setup makes the owner of a fresh tenant and ends all its setup links, in one step. Where the e-mail address has an account
// already, that account becomes the owner, and only with its own password: a link is no way to hand a tenant to a stranger,
// or to try passwords. Wrong ones count as wrong sign-ins, from address, too.
func (s *Service) Setup(ctx context.Context, token secret.Text, p Person, address string) (connectors.Member, error) {
	if _, err := s.CheckSetup(ctx, token); err != nil {
		return connectors.Member{}, err
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
	m.OnlyNew = !known // one that comes into being meanwhile has a password that nobody was asked for
	_, member, err := s.store.System().TakeSetupLink(ctx, tokenHash(token), m, func(m connectors.Member) store.Event {
		return joined(m, address)
	})
	if err != nil {
		return connectors.Member{}, setupError(err)
	}
	return member, nil
}

// ownsAccount reports whether the e-mail address has an account that its person made, whose password must be p's unless p wants a separate
// one. A password that opens an account which a tenant issued is refused: an owner of that tenant may know it.
func (s *Service) ownsAccount(ctx context.Context, p Person, address string) (bool, error) {
	users, err := s.store.System().UsersByAddress(ctx, Account(p.Email))
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
			Location: "password", Message: "This address has an account already; give its password.",
		})
	default:
		return false, nil
	}
}

func setupError(err error) error {
	if fault.Is(err, fault.NotFound) {
		return fault.Errorf(fault.NotFound, "This setup link was used or replaced. The server prints a new one at each start, as long as there is no owner.")
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
	return store.NewMember{Email: Account(p.Email), Name: strings.TrimSpace(p.Name), PasswordHash: hash, Role: p.Role}, nil
}
