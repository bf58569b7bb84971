package sso

import (
	"context"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
)

// isStill is nil where who signed in at the provider is the person who is signed in here.
func (s *Service) isStill(ctx context.Context, tenant connectors.TenantID, a auth.Actor, who identity) error {
	m, err := s.store.Tenant(tenant).MemberOf(ctx, who.Subject)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return err
	}
	if err != nil || m.UserID != *a.UserID {
		return refuse("sso-another", fault.Denied, "Somebody else signed in at the provider than the one who is signed in here. Sign in there as yourself.")
	}
	return nil
}
