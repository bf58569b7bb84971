package auth

import (
	"context"
	"fmt"
	"slices"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// TypeSSOOnly is the problem type of a right password that opens nothing: the person's tenants want single sign-on.
const TypeSSOOnly = "sso-only"

// StartSessionBySSO signs the user in to this browser after a sign-in at the tenant's own provider. The session opens this tenant alone:
// whoever runs the provider could otherwise send anybody into the other tenants of a person.
func (s *Service) StartSessionBySSO(ctx context.Context, user connectors.UserID, tenant connectors.TenantID, b Browser) error {
	m, err := s.store.System().Membership(ctx, user, tenant)
	if err != nil {
		return fmt.Errorf("read membership: %w", err)
	}
	b.sso = &tenant
	if err := s.startSession(ctx, user, m, b); err != nil {
		return err
	}
	s.sessions.Remove(ctx, sessionUser) // a program from before would let it into each of the person's tenants
	s.sessions.Put(ctx, sessionGuest, user.String())
	s.sessions.Put(ctx, sessionSSO, tenant.String())
	return nil
}

// opened are the memberships that the session in ctx opens, by how the person signed in.
func (s *Service) opened(ctx context.Context, all []store.Membership) []store.Membership {
	if tenant := s.bySSO(ctx); tenant != "" {
		return slices.DeleteFunc(slices.Clone(all), func(m store.Membership) bool { return !m.SSO || m.Tenant.ID.String() != tenant })
	}
	return byPassword(all)
}

// bySSO is the tenant at whose provider the person of the session signed in; empty: a password opened it. A program from before that signs
// somebody in leaves what it does not know.
func (s *Service) bySSO(ctx context.Context) string {
	if s.sessions.GetString(ctx, sessionUser) != "" {
		return ""
	}
	return s.sessions.GetString(ctx, sessionSSO)
}

// byPassword are the memberships that a password opens.
func byPassword(all []store.Membership) []store.Membership {
	return slices.DeleteFunc(slices.Clone(all), func(m store.Membership) bool { return m.SSOOnly })
}

func ssoOnly() error {
	return fault.Errorf(fault.Denied, "Your organisation wants single sign-on. Write your e-mail address, and press Continue with single sign-on.").WithType(TypeSSOOnly)
}
