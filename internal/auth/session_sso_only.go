package auth

import (
	"context"
	"fmt"
	"slices"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// TypeSSOOnly is the problem type of a right password in tenants that require single sign-on.
const TypeSSOOnly = "sso-only"

// StartSessionBySSO signs the user in after a sign-in at the tenant's provider. The session opens this tenant
// alone: the provider's operator could otherwise enter the person's other tenants.
func (s *Service) StartSessionBySSO(ctx context.Context, user connectors.UserID, tenant connectors.TenantID, b Browser) error {
	m, err := s.store.System().People().Membership(ctx, user, tenant)
	if err != nil {
		return fmt.Errorf("read membership: %w", err)
	}
	b.sso = &tenant
	if err := s.startSession(ctx, user, m, b); err != nil {
		return err
	}
	s.sessions.Remove(ctx, sessionUserKey) // an older release would open all of the person's tenants
	s.sessions.Put(ctx, sessionSSOUserKey, user.String())
	s.sessions.Put(ctx, sessionSSOKey, tenant.String())
	return nil
}

// filterMemberships returns the memberships that the session's kind of sign-in opens.
func (s *Service) filterMemberships(ctx context.Context, all []store.Membership) []store.Membership {
	if tenant := s.bySSO(ctx); tenant != "" {
		return slices.DeleteFunc(slices.Clone(all), func(m store.Membership) bool { return !m.SSO || m.Tenant.ID.String() != tenant })
	}
	return passwordMemberships(all)
}

// bySSO returns the tenant of the session's provider; empty: by password. Older releases leave keys that they
// do not know.
func (s *Service) bySSO(ctx context.Context) string {
	if s.sessions.GetString(ctx, sessionUserKey) != "" {
		return ""
	}
	return s.sessions.GetString(ctx, sessionSSOKey)
}

// passwordMemberships returns the memberships that a password opens.
func passwordMemberships(all []store.Membership) []store.Membership {
	return slices.DeleteFunc(slices.Clone(all), func(m store.Membership) bool { return m.SSOOnly })
}

func errSSOOnly() error {
	return fault.Errorf(fault.Denied, "Enter your email and continue with single sign-on: your organisation requires it.").WithType(TypeSSOOnly)
}
