package auth

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/store"
)

// TypeCodeWanted is the problem type of a sign-in that is half done: the password was right, and the second factor is asked for next.
const TypeCodeWanted = "second-factor-wanted"

// halfLife is how long a sign-in stays half done: time to find the phone.
const halfLife = 5 * time.Minute

// What this browser holds of a sign-in that is half done. It is no session: what a session holds is not there.
const (
	halfUser   = "half_user"
	halfTenant = "half_tenant"
	halfSince  = "half_password" // when the password was chosen that was given, in Unix microseconds
	halfAt     = "half_at"       // when, in Unix seconds
)

var halfKeys = []string{halfUser, halfTenant, halfSince, halfAt}

// beginHalf keeps that the password was right, under a new token, and asks for the second factor. Whoever was signed in here is not any more.
func (s *Service) beginHalf(ctx context.Context, user connectors.UserID, m store.Membership, b Browser) error {
	if err := s.endRow(ctx); err != nil {
		return err
	}
	if err := s.sessions.RenewToken(ctx); err != nil {
		return fmt.Errorf("renew session token: %w", err)
	}
	for _, key := range []string{sessionUser, sessionGuest, sessionTenant, sessionID, sessionSeen, sessionSince, sessionSSO} {
		s.sessions.Remove(ctx, key)
	}
	since := m.PasswordSetAt
	if !b.PasswordOf.IsZero() {
		since = b.PasswordOf
	}
	s.sessions.Put(ctx, halfUser, user.String())
	s.sessions.Put(ctx, halfTenant, m.Tenant.ID.String())
	s.sessions.Put(ctx, halfSince, since.UnixMicro())
	s.sessions.Put(ctx, halfAt, s.now().Unix())
	return fault.Errorf(fault.Unauthenticated, "Give the code of your second factor to go on.").WithType(TypeCodeWanted)
}

// half is the sign-in that is half done in this browser.
type half struct {
	user  connectors.UserID
	m     store.Membership
	since time.Time
}

// HalfSignedIn tells whether a sign-in is half done in this browser.
func (s *Service) HalfSignedIn(ctx context.Context) (bool, error) {
	_, err := s.half(ctx)
	if fault.Is(err, fault.Unauthenticated) {
		return false, nil
	}
	return err == nil, err
}

func (s *Service) half(ctx context.Context) (half, error) {
	user, errUser := uuid.Parse(s.sessions.GetString(ctx, halfUser))
	tenant, errTenant := uuid.Parse(s.sessions.GetString(ctx, halfTenant))
	if errUser != nil || errTenant != nil {
		return half{}, notSignedIn()
	}
	if s.now().Sub(time.Unix(s.sessions.GetInt64(ctx, halfAt), 0)) > halfLife {
		return half{}, s.endHalf(ctx)
	}
	h := half{user: connectors.UserID{UUID: user}, since: time.UnixMicro(s.sessions.GetInt64(ctx, halfSince))}
	var err error
	h.m, err = s.store.System().Membership(ctx, h.user, connectors.TenantID{UUID: tenant})
	if fault.Is(err, fault.NotFound) {
		return half{}, s.endHalf(ctx)
	}
	if err != nil {
		return half{}, fmt.Errorf("read membership: %w", err)
	}
	if h.m.PasswordSetAt.UnixMicro() != h.since.UnixMicro() || h.m.SSOOnly {
		return half{}, s.endHalf(ctx)
	}
	return h, nil
}

func (s *Service) endHalf(ctx context.Context) error {
	for _, key := range halfKeys {
		s.sessions.Remove(ctx, key)
	}
	return notSignedIn()
}

// FinishSignIn starts the session of a sign-in that is half done, for a code of the second factor or a recovery code. Unauthenticated: none
// is half done here, or not any more.
func (s *Service) FinishSignIn(ctx context.Context, code string, b Browser) error {
	h, err := s.half(ctx)
	if err != nil {
		return err
	}
	a := person(h.user, h.m, nil)
	a.RequestID, a.Address = b.RequestID, b.Address
	if err := s.checkCode(ctx, a, code); err != nil {
		if fault.Is(err, fault.Invalid) { // somebody has the password, and not the phone
			if unsaid := s.codeRefused(ctx, a); unsaid != nil {
				return unsaid
			}
		}
		return err
	}
	if err := s.store.System().SignedIn(ctx, h.user); err != nil {
		return fmt.Errorf("note sign-in: %w", err)
	}
	_ = s.endHalf(ctx)
	b.PasswordOf, b.proven = h.since, true
	return s.startSession(ctx, h.user, h.m, b)
}

// codeRefused puts on record that somebody knew the password, and not the code.
func (s *Service) codeRefused(ctx context.Context, a Actor) error {
	if err := s.store.System().RecordIn(context.WithoutCancel(ctx), a.Tenant.ID, a.Event("account.second_factor_refuse", a.Email)); err != nil {
		return fmt.Errorf("record a wrong code: %w", err)
	}
	return nil
}
