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

// TypeCodeWanted is the problem type of a sign-in with the right password that still requires the second
// factor.
const TypeCodeWanted = "second-factor-wanted"

// partialLife bounds a partial sign-in: time to get the code.
const partialLife = 5 * time.Minute

// Session keys of a partial sign-in. Those of a full session are absent.
const (
	partialUserKey     = "half_user"
	partialTenantKey   = "half_tenant"
	partialPasswordKey = "half_password" // when the given password was chosen, Unix microseconds
	partialStartedKey  = "half_at"       // start, Unix seconds
)

var partialKeys = []string{partialUserKey, partialTenantKey, partialPasswordKey, partialStartedKey}

// beginPartial stores under a new token that the password was right, ends the browser's session, and asks for
// the second factor.
func (s *Service) beginPartial(ctx context.Context, user connectors.UserID, m store.Membership, b Browser) error {
	if err := s.endStoredSession(ctx); err != nil {
		return err
	}
	if err := s.sessions.RenewToken(ctx); err != nil {
		return fmt.Errorf("renew session token: %w", err)
	}
	for _, key := range []string{sessionUserKey, sessionSSOUserKey, sessionTenantKey, sessionIDKey, sessionBeganKey, sessionPasswordKey, sessionSSOKey} {
		s.sessions.Remove(ctx, key)
	}
	since := m.PasswordSetAt
	if !b.PasswordSetAt.IsZero() {
		since = b.PasswordSetAt
	}
	s.sessions.Put(ctx, partialUserKey, user.String())
	s.sessions.Put(ctx, partialTenantKey, m.Tenant.ID.String())
	s.sessions.Put(ctx, partialPasswordKey, since.UnixMicro())
	s.sessions.Put(ctx, partialStartedKey, s.now().Unix())
	return fault.Errorf(fault.Unauthenticated, "Enter your second-factor code.").WithType(TypeCodeWanted)
}

// partialSignIn is the partial sign-in of this browser.
type partialSignIn struct {
	user  connectors.UserID
	m     store.Membership
	since time.Time
}

// IsPartiallySignedIn reports whether this browser has a partial sign-in.
func (s *Service) IsPartiallySignedIn(ctx context.Context) (bool, error) {
	_, err := s.loadPartial(ctx)
	if fault.Is(err, fault.Unauthenticated) {
		return false, nil
	}
	return err == nil, err
}

func (s *Service) loadPartial(ctx context.Context) (partialSignIn, error) {
	user, errUser := uuid.Parse(s.sessions.GetString(ctx, partialUserKey))
	tenant, errTenant := uuid.Parse(s.sessions.GetString(ctx, partialTenantKey))
	if errUser != nil || errTenant != nil {
		return partialSignIn{}, errNotSignedIn()
	}
	if s.now().Sub(time.Unix(s.sessions.GetInt64(ctx, partialStartedKey), 0)) > partialLife {
		return partialSignIn{}, s.endPartial(ctx)
	}
	h := partialSignIn{user: connectors.UserID{UUID: user}, since: time.UnixMicro(s.sessions.GetInt64(ctx, partialPasswordKey))}
	var err error
	h.m, err = s.store.System().People().Membership(ctx, h.user, connectors.TenantID{UUID: tenant})
	if fault.Is(err, fault.NotFound) {
		return partialSignIn{}, s.endPartial(ctx)
	}
	if err != nil {
		return partialSignIn{}, fmt.Errorf("read membership: %w", err)
	}
	if h.m.PasswordSetAt.UnixMicro() != h.since.UnixMicro() || h.m.SSOOnly {
		return partialSignIn{}, s.endPartial(ctx)
	}
	return h, nil
}

func (s *Service) endPartial(ctx context.Context) error {
	for _, key := range partialKeys {
		s.sessions.Remove(ctx, key)
	}
	return errNotSignedIn()
}

// FinishSignIn completes a partial sign-in by a code or a recovery code and starts the session. It fails with
// Unauthenticated without a partial sign-in.
func (s *Service) FinishSignIn(ctx context.Context, code string, b Browser) error {
	h, err := s.loadPartial(ctx)
	if err != nil {
		return err
	}
	a := newPersonActor(h.user, h.m, nil)
	a.RequestID, a.Address = b.RequestID, b.Address
	if err := s.checkCode(ctx, a, code); err != nil {
		if fault.Is(err, fault.Invalid) { // the password is known, the second factor is not
			if unsaid := s.recordWrongCode(ctx, a); unsaid != nil {
				return unsaid
			}
		}
		return err
	}
	if err := s.store.System().People().RecordSignIn(ctx, h.user); err != nil {
		return fmt.Errorf("note sign-in: %w", err)
	}
	_ = s.endPartial(ctx)
	b.PasswordSetAt, b.proven = h.since, true
	return s.startSession(ctx, h.user, h.m, b)
}

// recordWrongCode audits a wrong code after a right password.
func (s *Service) recordWrongCode(ctx context.Context, a Actor) error {
	if err := s.store.System().People().RecordIn(context.WithoutCancel(ctx), a.Tenant.ID, a.Event("account.second_factor_refuse", a.Email)); err != nil {
		return fmt.Errorf("record a wrong code: %w", err)
	}
	return nil
}
