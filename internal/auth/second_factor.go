package auth

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/pquerna/otp"
	"github.com/pquerna/otp/hotp"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

// TypeMustEnrolSecondFactor is the problem type of a session in a tenant that requires a second factor which is not set
// up.
const TypeMustEnrolSecondFactor = "second-factor-required"

// Parameters that RFC 6238 leaves open, as in common apps: SHA-1, six digits, 30 seconds.
const (
	codePeriod = 30
	codeDigits = otp.DigitsSix
	codeDrift  = 1  // accepted clock difference in time steps, either way
	keySize    = 20 // bytes: the length of the hash (RFC 4226 section 4, R6)
)

// maxWrongCodes bounds the wrong codes since the last right one (NIST SP 800-63B-4 section 3.2.2: 100). Beyond,
// only a recovery code is accepted, which resets the count.
const maxWrongCodes = 100

// Number of recovery codes and their size in bytes: 80 random bits cannot be guessed.
const (
	recoveryCodeCount = 10
	recoveryCodeSize  = 10
)

// base32Plain is base32 without padding, as apps read keys.
var base32Plain = base32.StdEncoding.WithPadding(base32.NoPadding)

// SecondFactor is the state of a person's second factor.
type SecondFactor struct {
	On        bool
	CodesLeft int // unused recovery codes

	// During setup:
	Key secret.Text // as text
	URI secret.Text // for QR codes: otpauth://…
}

// SecondFactor returns the state of the actor's own second factor.
func (s *Service) SecondFactor(ctx context.Context, a Actor) (SecondFactor, error) {
	if err := requireOwnFactor(a); err != nil {
		return SecondFactor{}, err
	}
	f, err := s.store.System().People().SecondFactor(ctx, *a.UserID)
	switch {
	case fault.Is(err, fault.NotFound):
		return SecondFactor{}, nil
	case err != nil:
		return SecondFactor{}, fmt.Errorf("read second factor: %w", err)
	case f.Confirmed != nil:
		return SecondFactor{On: true, CodesLeft: f.CodesLeft}, nil
	}
	if !isBegunBy(f, a) {
		return SecondFactor{}, nil
	}
	return SecondFactor{Key: f.Key, URI: s.otpauthURI(a.Email, f.Key)}, nil
}

// isBegunBy reports whether this session began the setup recently. Another session may belong to an attacker
// that knows the password and the key.
func isBegunBy(f store.SecondFactor, a Actor) bool {
	return f.BegunBy == a.Session && f.Fresh
}

// BeginSecondFactor makes a key that has no effect until [Service.ConfirmSecondFactor].
func (s *Service) BeginSecondFactor(ctx context.Context, a Actor) error {
	if err := requireOwnFactor(a); err != nil {
		return err
	}
	key := make([]byte, keySize)
	_, _ = rand.Read(key) // never fails: crypto/rand aborts the program instead
	if err := s.store.System().People().BeginSecondFactor(ctx, *a.UserID, a.Session, secret.Text(base32Plain.EncodeToString(key))); err != nil {
		return fmt.Errorf("store the key of a second factor: %w", err)
	}
	return nil
}

// ConfirmSecondFactor enables the second factor by a first code and returns the recovery codes, shown once. All
// other sessions end.
func (s *Service) ConfirmSecondFactor(ctx context.Context, a Actor, code string) ([]secret.Text, error) {
	if err := requireOwnFactor(a); err != nil {
		return nil, err
	}
	f, err := s.store.System().People().SecondFactor(ctx, *a.UserID)
	if err != nil {
		return nil, err
	}
	if f.Confirmed != nil {
		return nil, fault.Errorf(fault.Conflict, "Remove the existing second factor first.")
	}
	if !isBegunBy(f, a) {
		return nil, fault.Errorf(fault.Conflict, "This setup expired or was started elsewhere. Start over and scan the new key.")
	}
	step, ok := s.findStep(f.Key, code)
	if !ok {
		return nil, newWrongCodeError()
	}
	codes, macs, err := s.newRecoveryCodes(*a.UserID)
	if err != nil {
		return nil, err
	}
	err = s.store.System().People().ConfirmSecondFactor(ctx, *a.UserID, f.CreatedAt, step, macs, a.Session, a.Tenant.ID, a.Event("account.second_factor_add", a.Email))
	if err != nil {
		return nil, err
	}
	return codes, s.renewToken(ctx)
}

// RenewRecoveryCodes replaces the recovery codes, for a code of the second factor.
func (s *Service) RenewRecoveryCodes(ctx context.Context, a Actor, code string) ([]secret.Text, error) {
	if err := requireOwnFactor(a); err != nil {
		return nil, err
	}
	if err := s.checkCode(ctx, a, code); err != nil {
		return nil, err
	}
	codes, macs, err := s.newRecoveryCodes(*a.UserID)
	if err != nil {
		return nil, err
	}
	return codes, s.store.System().People().RenewRecoveryCodes(ctx, *a.UserID, macs, a.Tenant.ID, a.Event("account.recovery_codes", a.Email))
}

// RemoveSecondFactor removes the actor's own second factor, for a code of it.
func (s *Service) RemoveSecondFactor(ctx context.Context, a Actor, code string) error {
	if err := requireOwnFactor(a); err != nil {
		return err
	}
	if err := s.checkCode(ctx, a, code); err != nil {
		return err
	}
	return s.store.System().People().DropSecondFactor(ctx, *a.UserID, a.Session, a.Tenant.ID, a.Event("account.second_factor_remove", a.Email))
}

// RemoveMemberSecondFactor removes a member's lost second factor and ends their sessions. Only the command line
// may do so for a person with other tenants.
func (s *Service) RemoveMemberSecondFactor(ctx context.Context, a Actor, user connectors.UserID) error {
	if err := a.Require(connectors.PermOwn); err != nil {
		return err
	}
	m, err := s.store.Tenant(a.Tenant.ID).People().Member(ctx, user)
	if err != nil {
		return err
	}
	if a.UserID != nil && *a.UserID == user {
		return fault.Errorf(fault.Conflict, "Remove your own second factor on your account page, with a code.")
	}
	switch f, err := s.store.System().People().SecondFactor(ctx, user); { // before other memberships are revealed
	case err != nil && !fault.Is(err, fault.NotFound):
		return err
	case f.Confirmed == nil:
		return fault.Errorf(fault.NotFound, "No second factor.")
	}
	e := a.Event("member.second_factor_remove", m.Email)
	e.Detail = map[string]any{"user_id": user.String()}
	if a.Kind == KindOperator {
		return s.store.System().People().DropSecondFactor(ctx, user, connectors.SessionID{}, a.Tenant.ID, e)
	}
	err = s.store.System().People().DropMemberSecondFactor(ctx, user, a.Tenant.ID, e)
	if errors.Is(err, store.ErrMemberElsewhere) {
		return fault.Errorf(fault.Conflict,
			"This person belongs to another organisation too. The operator can remove the factor with patchbay user forget-factor.")
	}
	return err
}

// checkCode accepts a code or recovery code once. Failures count as wrong passwords. They are counted before
// the check: two concurrent ones could both be the tenth.
func (s *Service) checkCode(ctx context.Context, a Actor, code string) error {
	account, address := NormalizeEmail(a.Email), toNetwork(a.Address)
	if err := s.checkFailures(ctx, account, address); err != nil {
		return err
	}
	// Counted even if the caller disconnects.
	if err := s.store.System().People().RecordSignInFailure(context.WithoutCancel(ctx), account, address); err != nil {
		return fmt.Errorf("record a code: %w", err)
	}
	if err := s.limitFailures(ctx, account, address, maxFailures); err != nil {
		return err
	}
	ok, err := s.acceptCode(ctx, a, code)
	if err != nil {
		return err
	}
	if err := s.store.System().People().CountCode(context.WithoutCancel(ctx), *a.UserID, ok); err != nil {
		return fmt.Errorf("count a code: %w", err)
	}
	if !ok {
		return newWrongCodeError()
	}
	if a.Issued { // as for passwords: see acceptSignIn
		return nil
	}
	if err := s.store.System().People().ClearSignInFailures(ctx, account); err != nil {
		return fmt.Errorf("clear failed sign-ins: %w", err)
	}
	return nil
}

// acceptCode marks a code as used.
func (s *Service) acceptCode(ctx context.Context, a Actor, code string) (bool, error) {
	sys := s.store.System()
	f, err := sys.People().SecondFactor(ctx, *a.UserID)
	if fault.Is(err, fault.NotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read second factor: %w", err)
	}
	if f.Confirmed == nil {
		return false, nil
	}
	if step, ok := s.findStep(f.Key, code); ok && f.Wrong < maxWrongCodes {
		return sys.People().AcceptStep(ctx, *a.UserID, step)
	}
	return s.useRecoveryCode(ctx, a, code)
}

// findStep returns the time step of a code, within codeDrift.
func (s *Service) findStep(key secret.Text, code string) (int64, bool) {
	code, now := normalizeCode(code), s.now().Unix()/codePeriod
	for step := now - codeDrift; step <= now+codeDrift; step++ {
		ok, err := hotp.ValidateCustom(code, uint64(step), key.Reveal(), hotp.ValidateOpts{Digits: codeDigits, Algorithm: otp.AlgorithmSHA1})
		if err == nil && ok {
			return step, true
		}
	}
	return 0, false
}

// normalizeCode removes separators.
func normalizeCode(code string) string {
	return strings.ToUpper(strings.NewReplacer(" ", "", "-", "", "\u00a0", "").Replace(code))
}

// otpauthURI returns the key for QR codes.
func (s *Service) otpauthURI(email string, key secret.Text) secret.Text {
	issuer := "Patchbay"
	if s.host != "" {
		issuer += " (" + s.host + ")"
	}
	u := url.URL{Scheme: "otpauth", Host: "totp", Path: "/" + issuer + ":" + email}
	u.RawQuery = strings.ReplaceAll(url.Values{"secret": {key.Reveal()}, "issuer": {issuer}}.Encode(), "+", "%20")
	return secret.Text(u.String())
}

func (s *Service) newRecoveryCodes(user connectors.UserID) ([]secret.Text, store.NewRecoveryCodes, error) {
	codes, macs := make([]secret.Text, recoveryCodeCount), make(store.NewRecoveryCodes, recoveryCodeCount)
	for i := range codes {
		random := make([]byte, recoveryCodeSize)
		_, _ = rand.Read(random) // never fails: crypto/rand aborts the program instead
		code := strings.ToLower(base32Plain.EncodeToString(random))
		mac, err := s.store.Keyring().MAC(recoveryPurpose, recoveryData(user, code))
		if err != nil {
			return nil, nil, err
		}
		codes[i], macs[i] = secret.Text(code[:4]+"-"+code[4:8]+"-"+code[8:12]+"-"+code[12:]), mac
	}
	return codes, macs, nil
}

// recoveryPurpose is the purpose of the stored MACs.
const recoveryPurpose = "recovery_code"

func recoveryData(user connectors.UserID, code string) []byte {
	return []byte(user.String() + " " + normalizeCode(code))
}

func (s *Service) useRecoveryCode(ctx context.Context, a Actor, code string) (bool, error) {
	known, err := s.store.System().People().RecoveryCodes(ctx, *a.UserID)
	if err != nil {
		return false, fmt.Errorf("read recovery codes: %w", err)
	}
	for _, c := range known {
		if s.store.VerifyMAC(ctx, recoveryPurpose, recoveryData(*a.UserID, code), c.MAC) == nil {
			return s.store.System().People().UseRecoveryCode(ctx, *a.UserID, c.Number, a.Tenant.ID, a.Event("account.recovery_code_use", a.Email))
		}
	}
	return false, nil
}

func newWrongCodeError() error {
	return fault.InvalidFields(fault.Field{Location: "code", Message: "Wrong or used code. Wait for the next one."})
}

// requireOwnFactor refuses actors without a second factor of their own: programs, and sign-ins at a provider,
// which vouches for any person of its domain.
func requireOwnFactor(a Actor) error {
	switch {
	case a.UserID == nil:
		return fault.Errorf(fault.Denied, "Only people can have second factors.")
	case a.BySSO:
		return fault.Errorf(fault.Denied, "Your single sign-on provider handles second factors. Sign in with a password to set one up here.")
	}
	return nil
}

func errEnrolFirst() error {
	return fault.Errorf(fault.Denied, "Set up a second factor first: your organisation requires it.").WithType(TypeMustEnrolSecondFactor)
}
