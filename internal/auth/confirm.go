package auth

import (
	"context"
	"fmt"
	"time"

	"patchbay/internal/fault"
	"patchbay/internal/secret"
)

// ConfirmedFor is how long a person counts as present who has proved who they are: time for a few acts in a row, and too short for
// whoever finds the browser open after lunch.
const ConfirmedFor = 10 * time.Minute

// CodeConfirm is the code of the refusal of a dangerous act in a session whose person has not proved lately who they are.
const CodeConfirm = "reauthentication_required"

// RequireConfirmed refuses a dangerous act of a person who has not proved lately who they are. Keys, and the command line, have nobody to ask.
func (s *Service) RequireConfirmed(a Actor) error { return a.RequireConfirmed(s.now()) }

// RequireConfirmed is [Service.RequireConfirmed] at a time. A program of a person's is not that person, and never is confirmed.
func (a Actor) RequireConfirmed(now time.Time) error {
	if a.Kind != KindPerson || a.Program == nil && a.Confirmed != nil && now.Sub(*a.Confirmed) <= ConfirmedFor {
		return nil
	}
	f := fault.Errorf(fault.Denied, "This needs you to confirm who you are: do it in the dashboard, or use an API key.")
	f.Code = CodeConfirm
	return f
}

// Confirm notes that the person who makes the request has proved who they are: by the password, and by a code where they have a second factor.
// What is wrong counts as at a sign-in, and is a field's: confirm_password or confirm_code.
func (s *Service) Confirm(ctx context.Context, a Actor, password secret.Text, code string) error {
	if a.UserID == nil {
		return onlyPeople()
	}
	if a.BySSO {
		return fault.Errorf(fault.Denied, "You are signed in by single sign-on: sign in at your organisation's provider again.")
	}
	user, err := s.checkOwnPassword(ctx, a, password)
	if fault.Is(err, fault.Unauthenticated) {
		return fault.InvalidFields(fault.Field{Location: "confirm_password", Message: "This is not your present password."})
	}
	if err != nil {
		return err
	}
	if user.SecondFactor {
		err := s.checkCode(ctx, a, code)
		if fault.Is(err, fault.Invalid) {
			if unsaid := s.codeRefused(ctx, a); unsaid != nil {
				return unsaid
			}
			return fault.InvalidFields(fault.Field{Location: "confirm_code", Message: fault.As(err).Fields[0].Message})
		}
		if err != nil {
			return err
		}
	}
	return s.confirmed(ctx, a)
}

// ConfirmBySSO notes that the person who makes the request has just signed in at their tenant's provider again.
func (s *Service) ConfirmBySSO(ctx context.Context, a Actor) error {
	if a.UserID == nil || !a.BySSO {
		return onlyPeople()
	}
	return s.confirmed(ctx, a)
}

func (s *Service) confirmed(ctx context.Context, a Actor) error {
	if err := s.store.System().ConfirmSession(ctx, a.Session, s.now()); err != nil {
		return fmt.Errorf("note that a person was confirmed: %w", err)
	}
	return nil
}
