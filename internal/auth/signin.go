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

// Limit of wrong passwords, from the public contract: after ten in the window, per account or per address,
// every attempt is refused, even the right one.
const (
	maxFailures   = 10
	failureWindow = 15 * time.Minute
)

// SignIn checks a password. An unknown address fails like a wrong password, in the same time.
//
//  1. A caller above the limit is refused before it waits.
//  2. From here on one attempt runs at a time: two concurrent ones could both be the tenth.
//  3. The limit is checked again, then the password.
//  4. A failure is counted. A success clears the count of a person's own account without second factor, and
//     renews the hash if its cost or salt is outdated. The limit is checked last: another replica may have counted
//     the tenth.
//
// An address may have several accounts; the password selects one.
func (s *Service) SignIn(ctx context.Context, email string, password secret.Text, address string) (store.User, error) {
	return s.signIn(ctx, email, password, address, nil)
}

// checkOwnPassword is SignIn for the actor's own account alone.
func (s *Service) checkOwnPassword(ctx context.Context, a Actor, password secret.Text) (store.User, error) {
	return s.signIn(ctx, a.Email, password, a.Address, a.UserID)
}

func (s *Service) signIn(ctx context.Context, email string, password secret.Text, address string, only *connectors.UserID) (store.User, error) {
	account, address := NormalizeEmail(email), toNetwork(address)
	if err := s.checkFailures(ctx, account, address); err != nil {
		return store.User{}, err
	}
	leave, err := s.hasher.acquireSlot(ctx)
	if err != nil {
		return store.User{}, err
	}
	defer leave()
	if err := s.checkFailures(ctx, account, address); err != nil {
		return store.User{}, err
	}
	users, err := s.store.System().People().UsersByAddress(ctx, account)
	if err != nil {
		return store.User{}, fmt.Errorf("find user: %w", err)
	}
	if only != nil {
		users = slices.DeleteFunc(users, func(u store.User) bool { return u.ID != *only })
	}
	inUse, err := s.store.System().People().HashOfEachCost(ctx)
	if err != nil {
		return store.User{}, fmt.Errorf("find costs of passwords: %w", err)
	}
	place, stale, err := s.hasher.findMatch(password, userHashes(users), inUse)
	if err != nil {
		return store.User{}, err
	}
	if place < 0 {
		return store.User{}, s.refuseSignIn(ctx, account, address)
	}
	user := users[place]
	if err := s.checkFailures(ctx, account, address); err != nil {
		return store.User{}, err
	}
	return user, s.acceptSignIn(ctx, user, account, password, stale)
}

// NormalizeEmail returns the canonical form of an e-mail address.
func NormalizeEmail(email string) string { return strings.ToLower(strings.TrimSpace(email)) }

// checkFailures refuses the attempt above the limit.
func (s *Service) checkFailures(ctx context.Context, account, address string) error {
	return s.limitFailures(ctx, account, address, maxFailures-1)
}

// limitFailures fails if more than most failures are counted.
func (s *Service) limitFailures(ctx context.Context, account, address string, most int) error {
	byAccount, byAddress, err := s.store.System().People().SignInFailures(ctx, account, address, s.now().Add(-failureWindow))
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

func (s *Service) refuseSignIn(ctx context.Context, account, address string) error {
	// Counted even if the caller disconnects.
	ctx = context.WithoutCancel(ctx)
	if err := s.store.System().People().RecordSignInFailure(ctx, account, address); err != nil {
		return fmt.Errorf("record failed sign-in: %w", err)
	}
	if err := s.limitFailures(ctx, account, address, maxFailures); err != nil {
		return err
	}
	return fault.Errorf(fault.Unauthenticated, "Wrong email or password.")
}

func (s *Service) acceptSignIn(ctx context.Context, user store.User, account string, password secret.Text, stale bool) error {
	sys := s.store.System()
	if stale {
		hash, err := s.hashFor(ctx, account, password)
		if err != nil {
			return err
		}
		if err := sys.People().SetPasswordHash(ctx, user.ID, user.PasswordHash.Reveal(), hash); err != nil {
			return fmt.Errorf("renew password hash: %w", err)
		}
	}
	if user.SecondFactor {
		return nil // a partial sign-in: failures count until it is complete, or the password would grant ten more code attempts
	}
	if user.IssuedBy == nil { // an owner knows the password of an issued account, and could clear failures of the address's other accounts
		if err := sys.People().ClearSignInFailures(ctx, account); err != nil {
			return fmt.Errorf("clear failed sign-ins: %w", err)
		}
	}
	if err := sys.People().RecordSignIn(ctx, user.ID); err != nil {
		return fmt.Errorf("note sign-in: %w", err)
	}
	return nil
}

func userHashes(users []store.User) []secret.Text {
	hashes := make([]secret.Text, len(users))
	for i, u := range users {
		hashes[i] = u.PasswordHash
	}
	return hashes
}

// toNetwork returns the unit of rate limits: an IPv4 address, or an IPv6 /64, which one customer controls.
func toNetwork(address string) string {
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
