package auth

import (
	"context"
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
	return s.store.Tenant(a.Tenant.ID).Sessions(ctx, *a.UserID, now.Add(-s.lifetime), now.Add(-s.idle))
}

// SessionLimits are how long a session lasts that nobody uses, and any at most.
func (s *Service) SessionLimits() (idle, lifetime time.Duration) { return s.idle, s.lifetime }

// RevokeSession signs the person who makes the request out at one place. That of somebody else is NotFound.
func (s *Service) RevokeSession(ctx context.Context, a Actor, id connectors.SessionID) error {
	if a.UserID == nil {
		return onlyPeople()
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

// SignOutEverywhere ends all sessions of the person who makes the request, this one too.
func (s *Service) SignOutEverywhere(ctx context.Context, a Actor) error {
	if a.UserID == nil {
		return onlyPeople()
	}
	if err := s.endSessions(ctx, a, *a.UserID, a.Event("account.sign_out", a.Email)); err != nil {
		return err
	}
	return s.EndSession(ctx)
}

// SignOutMember ends all sessions of a member of the actor's tenant.
func (s *Service) SignOutMember(ctx context.Context, a Actor, user connectors.UserID) error {
	if err := a.Require(connectors.RoleOwner); err != nil {
		return err
	}
	return s.endSessions(ctx, a, user, a.Event("member.sign_out", user.String()))
}

// endSessions does not put on record at how many places there was a session: they are those of all of the person's tenants.
func (s *Service) endSessions(ctx context.Context, a Actor, user connectors.UserID, e store.Event) error {
	return s.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		if err := tx.EndSessions(ctx, user); err != nil {
			return err
		}
		return tx.Record(ctx, e)
	})
}

func onlyPeople() error { return fault.Errorf(fault.Denied, "Only a person is signed in.") }
