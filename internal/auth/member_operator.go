package auth

import (
	"context"
	"fmt"
	"strings"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

// CreateMember adds a person to any tenant with their own account, for the command line. An existing account is
// a Conflict unless the password is the account's: another one would be dropped, and the account's password
// would grant access.
func (s *Service) CreateMember(ctx context.Context, tenant connectors.Tenant, p Person) (connectors.Member, error) {
	m, err := s.newMember(ctx, p)
	if err != nil {
		return connectors.Member{}, err
	}
	if err := s.store.System().People().DeleteOrphanedUser(ctx, m.Email); err != nil {
		return connectors.Member{}, fmt.Errorf("forget an account without tenant: %w", err)
	}
	user, err := s.store.System().People().UserByEmail(ctx, m.Email)
	switch {
	case fault.Is(err, fault.NotFound):
		m.OnlyNew = true
		err = s.refuseIssuedPassword(ctx, "password", m.Email, p.Password)
	case err == nil:
		err = s.checkExisting(ctx, tenant, user, p.Password)
	}
	if err != nil {
		return connectors.Member{}, err
	}
	return s.addByOperator(ctx, tenant, m)
}

// AddExisting adds a person to any tenant with their existing account, for the command line.
func (s *Service) AddExisting(ctx context.Context, tenant connectors.Tenant, email string, role connectors.Role) (connectors.Member, error) {
	if _, err := s.store.System().People().UserByEmail(ctx, email); err != nil {
		if fault.Is(err, fault.NotFound) {
			return connectors.Member{}, fault.Errorf(fault.NotFound, "%s has no account. Omit --existing to create one.", NormalizeEmail(email))
		}
		return connectors.Member{}, fmt.Errorf("find user: %w", err)
	}
	return s.addByOperator(ctx, tenant, store.NewMember{Email: NormalizeEmail(email), Role: role})
}

func (s *Service) addByOperator(ctx context.Context, tenant connectors.Tenant, m store.NewMember) (connectors.Member, error) {
	return s.store.System().People().AddMember(ctx, tenant.ID, m, func(member connectors.Member) store.Event { return newMemberEvent(Operator(tenant), member) })
}

// checkExisting fails with Conflict if the password is not the account's, and describes the account to the
// operator.
func (s *Service) checkExisting(ctx context.Context, tenant connectors.Tenant, user store.User, password secret.Text) error {
	place, err := s.matchPassword(ctx, password, []store.User{user})
	if err != nil || place == 0 {
		return err
	}
	memberships, err := s.store.System().People().Memberships(ctx, user.ID)
	if err != nil {
		return fmt.Errorf("list memberships: %w", err)
	}
	tenants := make([]string, len(memberships))
	for i, m := range memberships {
		if m.Tenant.ID == tenant.ID {
			return fault.Errorf(fault.Conflict, "%s already belongs to %s.", user.Email, tenant.Slug)
		}
		tenants[i] = m.Tenant.Slug
	}
	return fault.Errorf(fault.Conflict, "%s has an account since %s, as a member of %s, with another password. Anyone who knows that password would get into %s. Repeat with --existing if you mean that person, or have an owner send an invitation.",
		user.Email, user.CreatedAt.Format("2006-01-02"), strings.Join(tenants, ", "), tenant.Slug)
}

// refuseIssuedPassword refuses a password of an account that a tenant issued: an owner of that tenant may know
// it.
func (s *Service) refuseIssuedPassword(ctx context.Context, field, email string, password secret.Text) error {
	users, err := s.store.System().People().UsersByAddress(ctx, email)
	if err != nil {
		return fmt.Errorf("find accounts: %w", err)
	}
	var issued []store.User
	for _, u := range users {
		if u.IssuedBy != nil {
			issued = append(issued, u)
		}
	}
	if len(issued) == 0 {
		return nil
	}
	place, err := s.matchPassword(ctx, password, issued)
	if err != nil || place < 0 {
		return err
	}
	return issuedPassword(field)
}

// matchPassword returns the index of the first user with this password, or -1.
func (s *Service) matchPassword(ctx context.Context, password secret.Text, users []store.User) (int, error) {
	leave, err := s.hasher.acquireSlot(ctx)
	if err != nil {
		return -1, err
	}
	defer leave()
	place, _, err := s.hasher.findMatch(password, userHashes(users), nil)
	return place, err
}

func issuedPassword(field string) error {
	return fault.InvalidFields(fault.Field{
		Location: field, Message: "The organisation that issued this account may know this password. Choose another.",
	})
}
