package store

import (
	"context"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store/dbgen"
)

// SecondFactor is what a person proves a sign-in with besides the password.
type SecondFactor struct {
	Key       secret.Text // of one-time codes
	CreatedAt time.Time
	Confirmed *time.Time // nil: it is being set up
	CodesLeft int        // recovery codes that were not used
	BegunBy   connectors.SessionID
	Fresh     bool // begun within a quarter of an hour: time to find the phone, and an app for it
	Wrong     int  // codes since the last right one
}

func secondFactorPlace(user connectors.UserID) secret.AD {
	return secret.AD{Table: "second_factors", Column: "sealed", Row: user.String()}
}

// SecondFactor is a person's, with its key. NotFound: there is none, and none is being set up.
func (s *System) SecondFactor(ctx context.Context, user connectors.UserID) (SecondFactor, error) {
	row, err := s.q.SecondFactor(ctx, user)
	if err != nil {
		return SecondFactor{}, found(err, "second factor")
	}
	key, err := s.keys.Open(row.Sealed, secondFactorPlace(user))
	f := SecondFactor{Key: key, CreatedAt: row.CreatedAt, Confirmed: row.ConfirmedAt, CodesLeft: int(row.CodesLeft), Wrong: int(row.WrongCodes), Fresh: row.Fresh}
	if row.BegunBy != nil {
		f.BegunBy.UUID = *row.BegunBy
	}
	return f, err
}

// BeginSecondFactor stores the key of one that counts for nothing yet, in place of another such, for the session that may confirm it. Conflict:
// there is one that counts.
func (s *System) BeginSecondFactor(ctx context.Context, user connectors.UserID, by connectors.SessionID, key secret.Text) error {
	return s.keys.storing(ctx, s.scope, key, secondFactorPlace(user), func(sealed []byte) error {
		n, err := s.q.BeginSecondFactor(ctx, user, sealed, by.UUID)
		if err == nil && n == 0 {
			return fault.Errorf(fault.Conflict, "There is a second factor already. Take it away first.")
		}
		return err
	})
}

// NewRecoveryCodes are what recognises the recovery codes of a person, in their order.
type NewRecoveryCodes [][]byte

// ConfirmSecondFactor makes the one count that was begun at a time by the session that is kept, a code of whose time step was given. Of the
// person's sessions only that one goes on. The event goes to the audit log of the tenant in which the person is.
func (s *System) ConfirmSecondFactor(
	ctx context.Context, user connectors.UserID, begun time.Time, step int64, codes NewRecoveryCodes, kept connectors.SessionID, in connectors.TenantID, event Event,
) error {
	return s.tx(ctx, func(tx *System) error {
		tenant := tx.tenant(in)
		if _, err := tenant.Before(ctx, OfSecondFactor(user)); err != nil {
			return err
		}
		n, err := tx.q.ConfirmSecondFactor(ctx, dbgen.ConfirmSecondFactorParams{Step: step, UserID: user, CreatedAt: begun, BegunBy: kept.UUID})
		if err != nil {
			return err
		}
		if n == 0 {
			return fault.Errorf(fault.Conflict, "The key was made anew meanwhile. Scan the one that is shown now.")
		}
		if err := tx.q.AddRecoveryCodes(ctx, user, codes); err != nil {
			return err
		}
		if err := tx.q.ProveSession(ctx, kept); err != nil {
			return err
		}
		if err := tx.q.EndOtherBrowserSessions(ctx, user, kept); err != nil {
			return err
		}
		return tenant.RecordChange(ctx, event, nil, OfSecondFactor(user))
	})
}

// AcceptStep tells whether a code of this time step may be accepted: none of it, nor of a later one, was before (RFC 6238 §5.2).
func (s *System) AcceptStep(ctx context.Context, user connectors.UserID, step int64) (bool, error) {
	n, err := s.q.AcceptStep(ctx, step, user)
	return n > 0, err
}

// CountCode counts a wrong code, or forgets the wrong ones when a right one came.
func (s *System) CountCode(ctx context.Context, user connectors.UserID, right bool) error {
	if right {
		return s.q.ForgetWrongCodes(ctx, user)
	}
	return s.q.CountWrongCode(ctx, user)
}

// RecordIn puts something on record in a tenant's audit log that changed nothing.
func (s *System) RecordIn(ctx context.Context, in connectors.TenantID, event Event) error {
	return s.tx(ctx, func(tx *System) error { return tx.tenant(in).Record(ctx, event) })
}

// RecoveryCode is what recognises a recovery code that was not used.
type RecoveryCode struct {
	Number int16
	MAC    []byte
}

// RecoveryCodes are a person's, as far as they were not used.
func (s *System) RecoveryCodes(ctx context.Context, user connectors.UserID) ([]RecoveryCode, error) {
	rows, err := s.q.RecoveryCodes(ctx, user)
	if err != nil {
		return nil, err
	}
	codes := make([]RecoveryCode, len(rows))
	for i, r := range rows {
		codes[i] = RecoveryCode{Number: r.Number, MAC: r.Mac}
	}
	return codes, nil
}

// UseRecoveryCode uses a code up, and says so in the audit log of a tenant. false: it was used meanwhile.
func (s *System) UseRecoveryCode(ctx context.Context, user connectors.UserID, number int16, in connectors.TenantID, event Event) (used bool, err error) {
	err = s.tx(ctx, func(tx *System) error {
		n, err := tx.q.UseRecoveryCode(ctx, user, number)
		if err != nil || n == 0 {
			return err
		}
		used = true
		return tx.tenant(in).Record(ctx, event)
	})
	return used && err == nil, err
}

// RenewRecoveryCodes replaces all of a person's codes, used or not.
func (s *System) RenewRecoveryCodes(ctx context.Context, user connectors.UserID, codes NewRecoveryCodes, in connectors.TenantID, event Event) error {
	return s.tx(ctx, func(tx *System) error {
		tenant := tx.tenant(in)
		was, err := tenant.Before(ctx, OfSecondFactor(user))
		if err != nil {
			return err
		}
		if was == nil {
			return fault.Errorf(fault.NotFound, "There is no second factor.")
		}
		if err := tx.q.DropRecoveryCodes(ctx, user); err != nil {
			return err
		}
		if err := tx.q.AddRecoveryCodes(ctx, user, codes); err != nil {
			return err
		}
		return tenant.RecordChange(ctx, event, was, OfSecondFactor(user))
	})
}

// DropSecondFactor takes a person's second factor away, with the recovery codes. Of the person's sessions only the one that is kept goes on;
// the zero id keeps none.
func (s *System) DropSecondFactor(ctx context.Context, user connectors.UserID, kept connectors.SessionID, in connectors.TenantID, event Event) error {
	return s.tx(ctx, func(tx *System) error {
		tenant := tx.tenant(in)
		was, err := tenant.Before(ctx, OfSecondFactor(user))
		if err != nil {
			return err
		}
		if was == nil {
			return fault.Errorf(fault.NotFound, "There is no second factor.")
		}
		n, err := tx.q.DropSecondFactor(ctx, user)
		if err := touched(n, err, "second factor"); err != nil {
			return err
		}
		if err := tx.q.EndOtherBrowserSessions(ctx, user, kept); err != nil {
			return err
		}
		return tenant.RecordChange(ctx, event, was, OfSecondFactor(user))
	})
}

// IsMemberElsewhere tells whether a person is a member of another tenant, too.
func (s *System) IsMemberElsewhere(ctx context.Context, user connectors.UserID, than connectors.TenantID) (bool, error) {
	return s.q.IsMemberElsewhere(ctx, user, than)
}
