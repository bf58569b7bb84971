package auth

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

// The limit on wrong passwords, from the public contract: after ten within the window, for one account or from one
// address, every attempt is refused, the right one too.
const (
	maxFailures   = 10
	failureWindow = 15 * time.Minute
)

// SignIn checks a password. An unknown address fails as a wrong password does, and takes as long.
//
//  1. A caller over the limit is refused before it waits for anything.
//  2. One attempt at a time from here on: two at once could both be the tenth.
//  3. The limit again, then the password.
//  4. A wrong one is counted; a right one clears the address's count where the account is the person's own and no second factor is asked for, and is hashed anew where the cost
//     has changed or the address's other accounts have another salt.
//     The limit a last time before either is said: another replica may have answered the tenth meanwhile.
//
// An address may have several accounts; the password chooses one of them.
func (s *Service) SignIn(ctx context.Context, email string, password secret.Text, address string) (store.User, error) {
	return s.signIn(ctx, email, password, address, nil)
}

// checkOwnPassword is SignIn for the person who makes the request, whose account alone is compared.
func (s *Service) checkOwnPassword(ctx context.Context, a Actor, password secret.Text) (store.User, error) {
	return s.signIn(ctx, a.Email, password, a.Address, a.UserID)
}

func (s *Service) signIn(ctx context.Context, email string, password secret.Text, address string, only *connectors.UserID) (store.User, error) {
	account, address := Account(email), network(address)
	if err := s.checkFailures(ctx, account, address); err != nil {
		return store.User{}, err
	}
	leave, err := s.hasher.enter(ctx)
	if err != nil {
		return store.User{}, err
	}
	defer leave()
	if err := s.checkFailures(ctx, account, address); err != nil {
		return store.User{}, err
	}
	users, err := s.store.System().UsersByAddress(ctx, account)
	if err != nil {
		return store.User{}, fmt.Errorf("find user: %w", err)
	}
	if only != nil {
		users = slices.DeleteFunc(users, func(u store.User) bool { return u.ID != *only })
	}
	inUse, err := s.store.System().HashOfEachCost(ctx)
	if err != nil {
		return store.User{}, fmt.Errorf("find costs of passwords: %w", err)
	}
	place, stale, err := s.hasher.match(password, hashesOf(users), inUse)
	if err != nil {
		return store.User{}, err
	}
	if place < 0 {
		return store.User{}, s.refuse(ctx, account, address)
	}
	user := users[place]
	if err := s.checkFailures(ctx, account, address); err != nil {
		return store.User{}, err
	}
	return user, s.accept(ctx, user, account, password, stale)
}

// Account is the form of an e-mail address under which a person is known.
func Account(email string) string { return strings.ToLower(strings.TrimSpace(email)) }

// checkFailures refuses the attempt that would be one too many.
func (s *Service) checkFailures(ctx context.Context, account, address string) error {
	return s.limitFailures(ctx, account, address, maxFailures-1)
}

// limitFailures refuses where more than most failures are counted.
func (s *Service) limitFailures(ctx context.Context, account, address string, most int) error {
	byAccount, byAddress, err := s.store.System().SignInFailures(ctx, account, address, s.now().Add(-failureWindow))
	if err != nil {
		return fmt.Errorf("count failed sign-ins: %w", err)
	}
	if byAccount <= most && byAddress <= most {
		return nil
	}
	f := fault.Errorf(fault.RateLimited, "Too many wrong passwords. Try again in 15 minutes.")
	f.RetryAfter = int(failureWindow.Seconds())
	return f
}

func (s *Service) refuse(ctx context.Context, account, address string) error {
	// The count must be kept even if the caller hangs up right after the guess.
	ctx = context.WithoutCancel(ctx)
	if err := s.store.System().RecordSignInFailure(ctx, account, address); err != nil {
		return fmt.Errorf("record failed sign-in: %w", err)
	}
	if err := s.limitFailures(ctx, account, address, maxFailures); err != nil {
		return err
	}
	return fault.Errorf(fault.Unauthenticated, "The e-mail address or the password is wrong.")
}

func (s *Service) accept(ctx context.Context, user store.User, account string, password secret.Text, stale bool) error {
	sys := s.store.System()
	if stale {
		hash, err := s.hashFor(ctx, account, password)
		if err != nil {
			return err
		}
		if err := sys.SetPasswordHash(ctx, user.ID, user.PasswordHash.Reveal(), hash); err != nil {
			return fmt.Errorf("renew password hash: %w", err)
		}
	}
	if user.SecondFactor {
		return nil // half a sign-in: what was guessed counts until the other half, or the password would give ten more guesses at codes
	}
	if user.IssuedBy == nil { // an owner knows the password of an issued account, and would clear the guesses at the address's other accounts
		if err := sys.ClearSignInFailures(ctx, account); err != nil {
			return fmt.Errorf("clear failed sign-ins: %w", err)
		}
	}
	if err := sys.SignedIn(ctx, user.ID); err != nil {
		return fmt.Errorf("note sign-in: %w", err)
	}
	return nil
}

func hashesOf(users []store.User) []secret.Text {
	hashes := make([]secret.Text, len(users))
	for i, u := range users {
		hashes[i] = u.PasswordHash
	}
	return hashes
}

// network is what counts as one address: an IPv4 address, or the /64 that one IPv6 customer has whole.
func network(address string) string {
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return address
	}
	ip = ip.Unmap()
	if ip.Is4() {
		return ip.String()
	}
	prefix, err := ip.WithZone("").Prefix(64)
	if err != nil {
		return address
	}
	return prefix.String()
}
