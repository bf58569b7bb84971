package auth

import (
	"context"
	"crypto/rand"
	"encoding/base32"
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

// TypeEnrolFirst is the problem type of a session that opens nothing of its tenant yet: the tenant wants a second factor, and its person has
// none.
const TypeEnrolFirst = "second-factor-required"

// What RFC 6238 leaves open, as the apps that make codes have it: SHA-1, six digits, 30 seconds.
const (
	codePeriod = 30
	codeDigits = otp.DigitsSix
	codeDrift  = 1  // time steps that a clock may be off by, to either side
	keySize    = 20 // bytes: as long as the hash (RFC 4226 §4, R6)
)

// mostWrongCodes is how many wrong codes there may be since the last right one, over days and weeks (NIST SP 800-63B-4, section 3.2.2: 100).
// From then on recovery codes alone are accepted, and the first of them ends that.
const mostWrongCodes = 100

// recoveryCodes is how many codes a person is given, and their size in bytes: 80 random bits that nobody tries out.
const (
	recoveryCodes    = 10
	recoveryCodeSize = 10
)

// base32Plain is how apps read keys, and people recovery codes: no padding.
var base32Plain = base32.StdEncoding.WithPadding(base32.NoPadding)

// SecondFactor is what a person is told of their second factor.
type SecondFactor struct {
	On        bool
	CodesLeft int // recovery codes that were not used

	// While it is being set up:
	Key secret.Text // as text
	URI secret.Text // as apps scan it: otpauth://…
}

// SecondFactor tells the person who makes the request how their second factor is.
func (s *Service) SecondFactor(ctx context.Context, a Actor) (SecondFactor, error) {
	if err := ownFactor(a); err != nil {
		return SecondFactor{}, err
	}
	f, err := s.store.System().SecondFactor(ctx, *a.UserID)
	switch {
	case fault.Is(err, fault.NotFound):
		return SecondFactor{}, nil
	case err != nil:
		return SecondFactor{}, fmt.Errorf("read second factor: %w", err)
	case f.Confirmed != nil:
		return SecondFactor{On: true, CodesLeft: f.CodesLeft}, nil
	}
	if !begunBy(f, a) {
		return SecondFactor{}, nil
	}
	return SecondFactor{Key: f.Key, URI: s.otpauth(a.Email, f.Key)}, nil
}

// begunBy tells whether this session began to set a factor up, a short while ago. Somebody else who knows the password may have begun it
// elsewhere, and has its key.
func begunBy(f store.SecondFactor, a Actor) bool {
	return f.BegunBy == a.Session && f.Fresh
}

// BeginSecondFactor makes a key for the person who makes the request. It counts for nothing until [Service.ConfirmSecondFactor].
func (s *Service) BeginSecondFactor(ctx context.Context, a Actor) error {
	if err := ownFactor(a); err != nil {
		return err
	}
	key := make([]byte, keySize)
	_, _ = rand.Read(key) // never fails: crypto/rand ends the program instead
	if err := s.store.System().BeginSecondFactor(ctx, *a.UserID, a.Session, secret.Text(base32Plain.EncodeToString(key))); err != nil {
		return fmt.Errorf("store the key of a second factor: %w", err)
	}
	return nil
}

// ConfirmSecondFactor turns the person's second factor on by a first code, and returns the recovery codes, which are shown once. The person is
// signed out everywhere else.
func (s *Service) ConfirmSecondFactor(ctx context.Context, a Actor, code string) ([]secret.Text, error) {
	if err := ownFactor(a); err != nil {
		return nil, err
	}
	f, err := s.store.System().SecondFactor(ctx, *a.UserID)
	if err != nil {
		return nil, err
	}
	if f.Confirmed != nil {
		return nil, fault.Errorf(fault.Conflict, "There is a second factor already. Take it away first.")
	}
	if !begunBy(f, a) {
		return nil, fault.Errorf(fault.Conflict, "This was not begun here, or is long ago. Begin again, and scan the key that is shown then.")
	}
	step, ok := s.stepOf(f.Key, code)
	if !ok {
		return nil, wrongCode()
	}
	codes, macs, err := s.newRecoveryCodes(*a.UserID)
	if err != nil {
		return nil, err
	}
	err = s.store.System().ConfirmSecondFactor(ctx, *a.UserID, f.CreatedAt, step, macs, a.Session, a.Tenant.ID, a.Event("account.second_factor_add", a.Email))
	if err != nil {
		return nil, err
	}
	return codes, s.renewToken(ctx)
}

// RenewRecoveryCodes replaces the person's recovery codes, for a code of the second factor.
func (s *Service) RenewRecoveryCodes(ctx context.Context, a Actor, code string) ([]secret.Text, error) {
	if err := ownFactor(a); err != nil {
		return nil, err
	}
	if err := s.checkCode(ctx, a, code); err != nil {
		return nil, err
	}
	codes, macs, err := s.newRecoveryCodes(*a.UserID)
	if err != nil {
		return nil, err
	}
	return codes, s.store.System().RenewRecoveryCodes(ctx, *a.UserID, macs, a.Tenant.ID, a.Event("account.recovery_codes", a.Email))
}

// RemoveSecondFactor takes the person's own second factor away, for a code of it.
func (s *Service) RemoveSecondFactor(ctx context.Context, a Actor, code string) error {
	if err := ownFactor(a); err != nil {
		return err
	}
	if err := s.checkCode(ctx, a, code); err != nil {
		return err
	}
	return s.store.System().DropSecondFactor(ctx, *a.UserID, a.Session, a.Tenant.ID, a.Event("account.second_factor_remove", a.Email))
}

// RemoveSecondFactorOf takes the second factor away that a member of the actor's tenant has lost, and ends their sessions. Who is a member
// elsewhere, too, keeps it: an owner here has no say there. The command line, which sees all tenants, may take it away.
func (s *Service) RemoveSecondFactorOf(ctx context.Context, a Actor, user connectors.UserID) error {
	if err := a.Require(connectors.PermOwn); err != nil {
		return err
	}
	m, err := s.store.Tenant(a.Tenant.ID).Member(ctx, user)
	if err != nil {
		return err
	}
	if a.UserID != nil && *a.UserID == user {
		return fault.Errorf(fault.Conflict, "This is your own second factor. Take it away on your account's page, with a code of it.")
	}
	switch f, err := s.store.System().SecondFactor(ctx, user); { // before anything is told of other memberships
	case err != nil && !fault.Is(err, fault.NotFound):
		return err
	case f.Confirmed == nil:
		return fault.Errorf(fault.NotFound, "There is no second factor.")
	}
	if a.Kind != KindOperator {
		elsewhere, err := s.store.System().IsMemberElsewhere(ctx, user, a.Tenant.ID)
		if err != nil {
			return fmt.Errorf("look for other memberships: %w", err)
		}
		if elsewhere {
			return fault.Errorf(fault.Conflict,
				"This person is a member of another tenant, too. The operator of this server can take the second factor away, with patchbay user forget-factor.")
		}
	}
	e := a.Event("member.second_factor_remove", m.Email)
	e.Detail = map[string]any{"user_id": user.String()}
	return s.store.System().DropSecondFactor(ctx, user, connectors.SessionID{}, a.Tenant.ID, e)
}

// checkCode accepts a code of the person who makes the request, or a recovery code, once. Guesses count as wrong passwords do, before they are
// looked at: two at once could both be the tenth.
func (s *Service) checkCode(ctx context.Context, a Actor, code string) error {
	account, address := Account(a.Email), network(a.Address)
	if err := s.checkFailures(ctx, account, address); err != nil {
		return err
	}
	// The count must be kept even if the caller hangs up right after the guess.
	if err := s.store.System().RecordSignInFailure(context.WithoutCancel(ctx), account, address); err != nil {
		return fmt.Errorf("record a code: %w", err)
	}
	if err := s.limitFailures(ctx, account, address, maxFailures); err != nil {
		return err
	}
	ok, err := s.acceptCode(ctx, a, code)
	if err != nil {
		return err
	}
	if err := s.store.System().CountCode(context.WithoutCancel(ctx), *a.UserID, ok); err != nil {
		return fmt.Errorf("count a code: %w", err)
	}
	if !ok {
		return wrongCode()
	}
	if a.Issued { // as at the password: see accept
		return nil
	}
	if err := s.store.System().ClearSignInFailures(ctx, account); err != nil {
		return fmt.Errorf("clear failed sign-ins: %w", err)
	}
	return nil
}

// acceptCode uses a code up.
func (s *Service) acceptCode(ctx context.Context, a Actor, code string) (bool, error) {
	sys := s.store.System()
	f, err := sys.SecondFactor(ctx, *a.UserID)
	if fault.Is(err, fault.NotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read second factor: %w", err)
	}
	if f.Confirmed == nil {
		return false, nil
	}
	if step, ok := s.stepOf(f.Key, code); ok && f.Wrong < mostWrongCodes {
		return sys.AcceptStep(ctx, *a.UserID, step)
	}
	return s.useRecoveryCode(ctx, a, code)
}

// stepOf is the time step whose code this is, as far as the clocks may differ.
func (s *Service) stepOf(key secret.Text, code string) (int64, bool) {
	code, now := plainCode(code), s.now().Unix()/codePeriod
	for step := now - codeDrift; step <= now+codeDrift; step++ {
		ok, err := hotp.ValidateCustom(code, uint64(step), key.Reveal(), hotp.ValidateOpts{Digits: codeDigits, Algorithm: otp.AlgorithmSHA1})
		if err == nil && ok {
			return step, true
		}
	}
	return 0, false
}

// plainCode is a code without what people and apps write between its parts.
func plainCode(code string) string {
	return strings.ToUpper(strings.NewReplacer(" ", "", "-", "", "\u00a0", "").Replace(code))
}

// otpauth is the key as apps scan it.
func (s *Service) otpauth(email string, key secret.Text) secret.Text {
	issuer := "Patchbay"
	if s.host != "" {
		issuer += " (" + s.host + ")"
	}
	u := url.URL{Scheme: "otpauth", Host: "totp", Path: "/" + issuer + ":" + email}
	u.RawQuery = strings.ReplaceAll(url.Values{"secret": {key.Reveal()}, "issuer": {issuer}}.Encode(), "+", "%20")
	return secret.Text(u.String())
}

func (s *Service) newRecoveryCodes(user connectors.UserID) ([]secret.Text, store.NewRecoveryCodes, error) {
	codes, macs := make([]secret.Text, recoveryCodes), make(store.NewRecoveryCodes, recoveryCodes)
	for i := range codes {
		random := make([]byte, recoveryCodeSize)
		_, _ = rand.Read(random) // never fails: crypto/rand ends the program instead
		code := strings.ToLower(base32Plain.EncodeToString(random))
		mac, err := s.store.Keyring().MAC(recoveryPurpose, recoveryData(user, code))
		if err != nil {
			return nil, nil, err
		}
		codes[i], macs[i] = secret.Text(code[:4]+"-"+code[4:8]+"-"+code[8:12]+"-"+code[12:]), mac
	}
	return codes, macs, nil
}

// recoveryPurpose binds the stored HMACs to what they are for.
const recoveryPurpose = "recovery_code"

func recoveryData(user connectors.UserID, code string) []byte {
	return []byte(user.String() + " " + plainCode(code))
}

func (s *Service) useRecoveryCode(ctx context.Context, a Actor, code string) (bool, error) {
	known, err := s.store.System().RecoveryCodes(ctx, *a.UserID)
	if err != nil {
		return false, fmt.Errorf("read recovery codes: %w", err)
	}
	for _, c := range known {
		if s.store.VerifyMAC(ctx, recoveryPurpose, recoveryData(*a.UserID, code), c.MAC) == nil {
			return s.store.System().UseRecoveryCode(ctx, *a.UserID, c.Number, a.Tenant.ID, a.Event("account.recovery_code_use", a.Email))
		}
	}
	return false, nil
}

func wrongCode() error {
	return fault.InvalidFields(fault.Field{Location: "code", Message: "This code is wrong, or it was used already. Wait for the next one."})
}

// ownFactor refuses who has no second factor of their own: a program, and whoever came by a tenant's provider, which could be anybody of its
// domain.
func ownFactor(a Actor) error {
	switch {
	case a.UserID == nil:
		return fault.Errorf(fault.Denied, "Only a person has a second factor.")
	case a.BySSO:
		return fault.Errorf(fault.Denied, "You are signed in by single sign-on: your organisation's provider asks for what it wants. A second factor is set up after a sign-in by password.")
	}
	return nil
}

func enrolFirst() error {
	return fault.Errorf(fault.Denied, "This tenant wants a second factor. Set it up first, on your account's page.").WithType(TypeEnrolFirst)
}
