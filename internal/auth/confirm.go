package auth

import (
	"context"
	"fmt"
	"time"

	"patchbay/internal/fault"
	"patchbay/internal/secret"
)

// RecentAuthTTL is how long a re-authentication counts: enough for a piece of work, too short for a browser left open
// overnight.
const RecentAuthTTL = time.Hour

// CodeReauthenticate is the error code of a dangerous action that requires re-authentication.
const CodeReauthenticate = "reauthentication_required"

// RequireRecentAuth fails for a dangerous action of a person without recent re-authentication. Keys and the
// command line pass.
func (s *Service) RequireRecentAuth(a Actor) error { return a.RequireRecentAuth(s.now()) }

// RequireRecentAuth is [Service.RequireRecentAuth] at a time. A client that acts as a person is never confirmed.
func (a Actor) RequireRecentAuth(now time.Time) error {
	if a.Kind != KindPerson || a.Program == nil && a.ReauthenticatedAt != nil && now.Sub(*a.ReauthenticatedAt) <= RecentAuthTTL {
		return nil
	}
	f := fault.Errorf(fault.Denied, "Confirm it's you in the dashboard, or use an API key.")
	f.Code = CodeReauthenticate
	return f
}

// Reauthenticate re-authenticates the person by password, and by code if they have a second factor. Failures count as
// failed sign-ins and are field errors of confirm_password or confirm_code.
func (s *Service) Reauthenticate(ctx context.Context, a Actor, password secret.Text, code string) error {
	if a.UserID == nil {
		return errPeopleOnly()
	}
	if a.BySSO {
		return fault.Errorf(fault.Denied, "Sign in again with your single sign-on provider.")
	}
	user, err := s.checkOwnPassword(ctx, a, password)
	if fault.Is(err, fault.Unauthenticated) {
		return fault.InvalidFields(fault.Field{Location: "confirm_password", Message: "Wrong password."})
	}
	if err != nil {
		return err
	}
	if user.SecondFactor {
		err := s.checkCode(ctx, a, code)
		if fault.Is(err, fault.Invalid) {
			if unsaid := s.recordWrongCode(ctx, a); unsaid != nil {
				return unsaid
			}
			return fault.InvalidFields(fault.Field{Location: "confirm_code", Message: fault.As(err).Fields[0].Message})
		}
		if err != nil {
			return err
		}
	}
	return s.markConfirmed(ctx, a)
}

// ConfirmBySSO records that the person has just signed in again at their tenant's provider.
func (s *Service) ConfirmBySSO(ctx context.Context, a Actor) error {
	if a.UserID == nil || !a.BySSO {
		return errPeopleOnly()
	}
	return s.markConfirmed(ctx, a)
}

func (s *Service) markConfirmed(ctx context.Context, a Actor) error {
	if err := s.store.System().Sessions().ConfirmSession(ctx, a.Session, s.now()); err != nil {
		return fmt.Errorf("note that a person was confirmed: %w", err)
	}
	return nil
}
