package sso

import (
	"context"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
)

// checkSamePerson fails unless the identity is the signed-in person.
func (s *Service) checkSamePerson(ctx context.Context, tenant connectors.TenantID, a auth.Actor, who identity) error {
	m, err := s.store.Tenant(tenant).SSO().MemberBySubject(ctx, who.Subject)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return err
	}
	if err != nil || m.UserID != *a.UserID {
		return newRefusal("sso-another", fault.Denied, "Someone else signed in at the provider. Sign in there as yourself.")
	}
	return nil
}
