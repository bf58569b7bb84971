package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store/dbgen"
)

// SecondFactor is a person's TOTP factor.
type SecondFactor struct {
	Key       secret.Text // of one-time codes
	CreatedAt time.Time
	Confirmed *time.Time // nil: being set up
	CodesLeft int        // unused recovery codes
	BegunBy   connectors.SessionID
	Fresh     bool // begun within 15 minutes, the time to set up an app
	Wrong     int  // wrong codes since the last right one
}

func secondFactorAD(user connectors.UserID) secret.AD {
	return secret.AD{Table: "second_factors", Column: "sealed", Row: user.String()}
}

// SecondFactor reads a person's factor with its key. It fails with NotFound if there is none, not even one
// being set up.
func (s SystemPeople) SecondFactor(ctx context.Context, user connectors.UserID) (SecondFactor, error) {
	row, err := s.q.SecondFactor(ctx, user)
	if err != nil {
		return SecondFactor{}, rowError(err, "second factor")
	}
	key, err := s.keys.Open(row.Sealed, secondFactorAD(user))
	f := SecondFactor{Key: key, CreatedAt: row.CreatedAt, Confirmed: row.ConfirmedAt, CodesLeft: int(row.CodesLeft), Wrong: int(row.WrongCodes), Fresh: row.Fresh}
	if row.BegunBy != nil {
		f.BegunBy.UUID = *row.BegunBy
	}
	return f, err
}

// BeginSecondFactor stores the key of an unconfirmed factor, replacing another, for the session that may
// confirm it. It fails with Conflict if a confirmed one exists.
func (s SystemPeople) BeginSecondFactor(ctx context.Context, user connectors.UserID, by connectors.SessionID, key secret.Text) error {
	return s.keys.sealAndRetry(ctx, s.scope, key, secondFactorAD(user), func(sealed []byte) error {
		n, err := s.q.BeginSecondFactor(ctx, user, sealed, by.UUID)
		if err == nil && n == 0 {
			return fault.Errorf(fault.Conflict, "Remove the existing second factor first.")
		}
		return err
	})
}

// NewRecoveryCodes are the MACs of a person's recovery codes, in order.
type NewRecoveryCodes [][]byte

// ConfirmSecondFactor confirms the factor that the kept session began at a time, by a code of a time step. All
// other sessions of the person end. The event goes to the audit log of the current tenant.
func (s SystemPeople) ConfirmSecondFactor(
	ctx context.Context, user connectors.UserID, begun time.Time, step int64, codes NewRecoveryCodes, kept connectors.SessionID, in connectors.TenantID, event Event,
) error {
	return s.inTx(ctx, func(tx *System) error {
		tenant := tx.tenantInTx(in)
		if _, err := tenant.LockAndReadState(ctx, OfSecondFactor(user)); err != nil {
			return err
		}
		n, err := tx.q.ConfirmSecondFactor(ctx, dbgen.ConfirmSecondFactorParams{Step: step, UserID: user, CreatedAt: begun, BegunBy: kept.UUID})
		if err != nil {
			return err
		}
		if n == 0 {
			return fault.Errorf(fault.Conflict, "The key was replaced meanwhile. Scan the one shown now.")
		}
		if err := tx.q.AddRecoveryCodes(ctx, user, codes); err != nil {
			return err
		}
		if err := tx.q.MarkSessionSecondFactor(ctx, kept); err != nil {
			return err
		}
		if err := tx.q.EndOtherBrowserSessions(ctx, user, kept); err != nil {
			return err
		}
		return tenant.RecordChange(ctx, event, nil, OfSecondFactor(user))
	})
}

// AcceptStep reports whether a code of this time step may be accepted: neither it nor a later one was used (RFC
// 6238 section 5.2).
func (s SystemPeople) AcceptStep(ctx context.Context, user connectors.UserID, step int64) (bool, error) {
	n, err := s.q.AcceptStep(ctx, step, user)
	return n > 0, err
}

// CountCode counts a wrong code, or resets the count after a right one.
func (s SystemPeople) CountCode(ctx context.Context, user connectors.UserID, right bool) error {
	if right {
		return s.q.ResetWrongCodes(ctx, user)
	}
	return s.q.CountWrongCode(ctx, user)
}

// RecordIn appends an event without changes to a tenant's audit log.
func (s SystemPeople) RecordIn(ctx context.Context, in connectors.TenantID, event Event) error {
	return s.inTx(ctx, func(tx *System) error { return tx.tenantInTx(in).Audit().Record(ctx, event) })
}

// RecoveryCode is the MAC of an unused recovery code.
type RecoveryCode struct {
	Number int16
	MAC    []byte
}

// RecoveryCodes lists a person's unused recovery codes.
func (s SystemPeople) RecoveryCodes(ctx context.Context, user connectors.UserID) ([]RecoveryCode, error) {
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

// UseRecoveryCode marks a code as used, with an audit event. It is false if it was used meanwhile.
func (s SystemPeople) UseRecoveryCode(ctx context.Context, user connectors.UserID, number int16, in connectors.TenantID, event Event) (used bool, err error) {
	err = s.inTx(ctx, func(tx *System) error {
		n, err := tx.q.UseRecoveryCode(ctx, user, number)
		if err != nil || n == 0 {
			return err
		}
		used = true
		return tx.tenantInTx(in).Audit().Record(ctx, event)
	})
	return used && err == nil, err
}

// RenewRecoveryCodes replaces all of a person's codes.
func (s SystemPeople) RenewRecoveryCodes(ctx context.Context, user connectors.UserID, codes NewRecoveryCodes, in connectors.TenantID, event Event) error {
	return s.inTx(ctx, func(tx *System) error {
		tenant := tx.tenantInTx(in)
		was, err := tenant.LockAndReadState(ctx, OfSecondFactor(user))
		if err != nil {
			return err
		}
		if was == nil {
			return fault.Errorf(fault.NotFound, "No second factor.")
		}
		if err := tx.q.DeleteRecoveryCodes(ctx, user); err != nil {
			return err
		}
		if err := tx.q.AddRecoveryCodes(ctx, user, codes); err != nil {
			return err
		}
		return tenant.RecordChange(ctx, event, was, OfSecondFactor(user))
	})
}

// DropSecondFactor deletes a person's second factor and recovery codes. All sessions except kept end; the zero
// id keeps none.
func (s SystemPeople) DropSecondFactor(ctx context.Context, user connectors.UserID, kept connectors.SessionID, in connectors.TenantID, event Event) error {
	return s.inTx(ctx, func(tx *System) error { return tx.dropSecondFactor(ctx, user, kept, in, event) })
}

// DropMemberSecondFactor is DropSecondFactor for a person without a membership in another tenant. It fails with
// [ErrMemberElsewhere] otherwise.
func (s SystemPeople) DropMemberSecondFactor(ctx context.Context, user connectors.UserID, in connectors.TenantID, event Event) error {
	return s.inTx(ctx, func(tx *System) error {
		if err := tx.q.LockUser(ctx, user); err != nil {
			return err
		}
		elsewhere, err := tx.q.IsMemberElsewhere(ctx, user, in)
		if err != nil {
			return fmt.Errorf("look for other memberships: %w", err)
		}
		if elsewhere {
			return ErrMemberElsewhere
		}
		return tx.dropSecondFactor(ctx, user, connectors.SessionID{}, in, event)
	})
}

// ErrMemberElsewhere means that a person is a member of another tenant too.
var ErrMemberElsewhere = errors.New("member of another tenant")

func (s *system) dropSecondFactor(ctx context.Context, user connectors.UserID, kept connectors.SessionID, in connectors.TenantID, event Event) error {
	tenant := s.tenantInTx(in)
	was, err := tenant.LockAndReadState(ctx, OfSecondFactor(user))
	if err != nil {
		return err
	}
	if was == nil {
		return fault.Errorf(fault.NotFound, "No second factor.")
	}
	n, err := s.q.DeleteSecondFactor(ctx, user)
	if err := affectedError(n, err, "second factor"); err != nil {
		return err
	}
	if err := s.q.EndOtherBrowserSessions(ctx, user, kept); err != nil {
		return err
	}
	return tenant.RecordChange(ctx, event, was, OfSecondFactor(user))
}
