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

// ListSessions lists the actor's sessions, last used first.
func (s *Service) ListSessions(ctx context.Context, a Actor) ([]connectors.Session, error) {
	if a.UserID == nil {
		return nil, errPeopleOnly()
	}
	now := s.now()
	all, err := s.store.Tenant(a.Tenant.ID).People().Sessions(ctx, *a.UserID, now.Add(-s.lifetime), now.Add(-s.idle))
	if a.BySSO { // the provider vouches for any person of its domain, so other sessions stay hidden
		all = slices.DeleteFunc(all, func(n connectors.Session) bool { return n.SSO == nil })
	}
	return all, err
}

// SessionLimits returns the idle timeout and the lifetime of sessions.
func (s *Service) SessionLimits() (idle, lifetime time.Duration) { return s.idle, s.lifetime }

// RevokeSession ends one of the actor's sessions. Other people's are NotFound.
func (s *Service) RevokeSession(ctx context.Context, a Actor, id connectors.SessionID) error {
	if a.UserID == nil {
		return errPeopleOnly()
	}
	if err := s.requireVisible(ctx, a, id); err != nil {
		return err
	}
	return s.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		if err := tx.People().EndSession(ctx, *a.UserID, id); err != nil {
			return err
		}
		e := a.Event("account.session_end", a.Email)
		e.Detail = map[string]any{"session": id.String()}
		return tx.Audit().Record(ctx, e)
	})
}

// requireVisible fails with NotFound for a session that ListSessions does not show.
func (s *Service) requireVisible(ctx context.Context, a Actor, id connectors.SessionID) error {
	all, err := s.ListSessions(ctx, a)
	if err == nil && a.BySSO && !slices.ContainsFunc(all, func(n connectors.Session) bool { return n.ID == id }) {
		err = fault.Errorf(fault.NotFound, "No such session.")
	}
	return err
}

// SignOutEverywhere ends all of the actor's sessions, including this one. After single sign-on it ends those of
// the provider.
func (s *Service) SignOutEverywhere(ctx context.Context, a Actor) error {
	if a.UserID == nil {
		return errPeopleOnly()
	}
	if a.BySSO {
		return s.endSSOSessions(ctx, a)
	}
	if err := s.store.System().Sessions().EndSessionsOnRecord(ctx, *a.UserID, a.Tenant.ID, a.Event("account.sign_out", a.Email)); err != nil {
		return fmt.Errorf("end sessions: %w", err)
	}
	return s.EndSession(ctx)
}

func (s *Service) endSSOSessions(ctx context.Context, a Actor) error {
	all, err := s.ListSessions(ctx, a)
	if err != nil {
		return err
	}
	err = s.store.Tenant(a.Tenant.ID).Tx(ctx, func(tx *store.Tenant) error {
		for _, n := range all {
			if err := tx.People().EndSession(ctx, *a.UserID, n.ID); err != nil && !fault.Is(err, fault.NotFound) {
				return err
			}
		}
		if err := tx.People().EndSSOPrograms(ctx, *a.UserID); err != nil {
			return err
		}
		return tx.Audit().Record(ctx, a.Event("account.sign_out", a.Email))
	})
	if err != nil {
		return err
	}
	return s.EndSession(ctx)
}

// SignOutMember signs a member out of the actor's tenant. Their sessions continue in other tenants.
func (s *Service) SignOutMember(ctx context.Context, a Actor, user connectors.UserID) error {
	if err := a.Require(connectors.PermOwn); err != nil {
		return err
	}
	return s.store.System().Sessions().SignMemberOut(ctx, user, a.Tenant.ID, a.Event("member.sign_out", user.String()))
}

func errPeopleOnly() error { return fault.Errorf(fault.Denied, "Only people have sessions.") }
