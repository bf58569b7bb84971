package auth

import (
	"context"
	"fmt"
	"slices"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// SessionsOf lists where the person who makes the request is signed in, the last used first.
func (s *Service) SessionsOf(ctx context.Context, a Actor) ([]connectors.Session, error) {
	if a.UserID == nil {
		return nil, onlyPeople()
	}
	now := s.now()
	all, err := s.store.Tenant(a.Tenant.ID).Sessions(ctx, *a.UserID, now.Add(-s.lifetime), now.Add(-s.idle))
	if a.BySSO { // whoever runs the provider could be anybody of its domain, and those are their sessions elsewhere
		all = slices.DeleteFunc(all, func(n connectors.Session) bool { return n.SSO == nil })
	}
	return all, err
}

// SessionLimits are how long a session lasts that nobody uses, and any at most.
func (s *Service) SessionLimits() (idle, lifetime time.Duration) { return s.idle, s.lifetime }

// RevokeSession signs the person who makes the request out at one place. That of somebody else is NotFound.
func (s *Service) RevokeSession(ctx context.Context, a Actor, id connectors.SessionID) error {
	if a.UserID == nil {
		return onlyPeople()
	}
	if err := s.sees(ctx, a, id); err != nil {
		return err
	}
	return s.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		if err := tx.EndSession(ctx, *a.UserID, id); err != nil {
			return err
		}
		e := a.Event("account.session_end", a.Email)
		e.Detail = map[string]any{"session": id.String()}
		return tx.Record(ctx, e)
	})
}

// sees is NotFound for a session that is none of those that the person is shown.
func (s *Service) sees(ctx context.Context, a Actor, id connectors.SessionID) error {
	all, err := s.SessionsOf(ctx, a)
	if err == nil && a.BySSO && !slices.ContainsFunc(all, func(n connectors.Session) bool { return n.ID == id }) {
		err = fault.Errorf(fault.NotFound, "There is no such session.")
	}
	return err
}

// SignOutEverywhere ends all sessions of the person who makes the request, this one too; of one who signed in at a tenant's provider those
// that began there.
func (s *Service) SignOutEverywhere(ctx context.Context, a Actor) error {
	if a.UserID == nil {
		return onlyPeople()
	}
	if a.BySSO {
		return s.endThoseBySSO(ctx, a)
	}
	if err := s.store.System().EndSessionsOnRecord(ctx, *a.UserID, a.Tenant.ID, a.Event("account.sign_out", a.Email)); err != nil {
		return fmt.Errorf("end sessions: %w", err)
	}
	return s.EndSession(ctx)
}

func (s *Service) endThoseBySSO(ctx context.Context, a Actor) error {
	all, err := s.SessionsOf(ctx, a)
	if err != nil {
		return err
	}
	err = s.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		for _, n := range all {
			if err := tx.EndSession(ctx, *a.UserID, n.ID); err != nil && !fault.Is(err, fault.NotFound) {
				return err
			}
		}
		if err := tx.EndSSOPrograms(ctx, *a.UserID); err != nil {
			return err
		}
		return tx.Record(ctx, a.Event("account.sign_out", a.Email))
	})
	if err != nil {
		return err
	}
	return s.EndSession(ctx)
}

// SignOutMember signs a member of the actor's tenant out of it. No session that the member has opens this tenant again; it goes on in the
// person's other tenants.
func (s *Service) SignOutMember(ctx context.Context, a Actor, user connectors.UserID) error {
	if err := a.Require(connectors.PermOwn); err != nil {
		return err
	}
	return s.store.System().SignMemberOut(ctx, user, a.Tenant.ID, a.Event("member.sign_out", user.String()))
}

func onlyPeople() error { return fault.Errorf(fault.Denied, "Only a person is signed in.") }
