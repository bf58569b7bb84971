package auth

import (
	"context"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"sync/atomic"
	"unicode/utf8"

	"github.com/alexedwards/argon2id"
	"golang.org/x/crypto/argon2"

	"patchbay/internal/fault"
	"patchbay/internal/secret"
)

// Bounds of a password, in characters.
const (
	MinPassword = 10
	MaxPassword = 200
)

// defaultCost takes the memory of the second recommended option of RFC 9106 §4 and a third of its passes, which is still
// more than OWASP's minimum (46 MiB, one pass): sign-ins are checked one at a time, and a flood of them must not shut
// everybody out. Parallelism is fixed, not the machine's number of cores: replicas of different size would rehash each
// other's work.
var defaultCost = argon2id.Params{Memory: 64 * 1024, Iterations: 1, Parallelism: 4, SaltLength: 16, KeyLength: 32}

// maxWaiting bounds the callers that wait for a computation; the rest is told to come back.
const maxWaiting = 64

// CheckPassword refuses a password that may not be set, as the field at that location.
func CheckPassword(location string, pw secret.Text) error {
	if goodPassword(pw) {
		return nil
	}
	return fault.InvalidFields(badPassword(location))
}

func goodPassword(pw secret.Text) bool {
	n := utf8.RuneCountInString(pw.Reveal())
	return n >= MinPassword && n <= MaxPassword
}

func badPassword(location string) fault.Field {
	return fault.Field{
		Location: location,
		Message:  fmt.Sprintf("A password has %d to %d characters.", MinPassword, MaxPassword),
	}
}

// HashPassword checks pw against the rule and hashes it for the accounts of an e-mail address.
func (s *Service) HashPassword(ctx context.Context, email string, pw secret.Text) (string, error) {
	if err := CheckPassword("password", pw); err != nil {
		return "", err
	}
	leave, err := s.hasher.enter(ctx)
	if err != nil {
		return "", err
	}
	defer leave()
	return s.hashFor(ctx, email, pw)
}

// hashFor hashes a password with the salt of the address's other accounts, so that a sign-in compares all of them with one computation: its
// time does not depend on how many there are.
func (s *Service) hashFor(ctx context.Context, email string, pw secret.Text) (string, error) {
	users, err := s.store.System().UsersByAddress(ctx, email)
	if err != nil {
		return "", fmt.Errorf("find accounts: %w", err)
	}
	return s.hasher.hash(pw, hashesOf(users))
}

// hasher computes argon2id one at a time: a computation takes 64 MiB, and a flood of sign-ins must not take the memory
// of the machine. It uses four threads by itself, so that a second one at the same time would gain little.
type hasher struct {
	cost    argon2id.Params
	slot    chan struct{} // holds one token
	waiting chan struct{}
	done    atomic.Int64 // of all checks: memory in KiB times passes, for tests
}

func newHasher(cost argon2id.Params) *hasher {
	return &hasher{
		cost:    cost,
		slot:    make(chan struct{}, 1),
		waiting: make(chan struct{}, maxWaiting),
	}
}

// enter waits for the turn to compute. The caller calls leave when done.
func (h *hasher) enter(ctx context.Context) (leave func(), err error) {
	select {
	case h.waiting <- struct{}{}:
		defer func() { <-h.waiting }()
	default:
		f := fault.Errorf(fault.Unavailable, "Too many people sign in at once. Try again in a few seconds.")
		f.RetryAfter = 5
		return nil, f
	}
	select {
	case h.slot <- struct{}{}:
		return func() { <-h.slot }, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for a password check: %w", ctx.Err())
	}
}

// hash hashes pw with the salt of the first of the others that has today's cost, or with a new one.
func (h *hasher) hash(pw secret.Text, others []secret.Text) (string, error) {
	for _, other := range others {
		if other.Empty() {
			continue
		}
		cost, salt, _, err := argon2id.DecodeHash(other.Reveal())
		if err != nil {
			return "", fmt.Errorf("read password hash: %w", err)
		}
		if *cost == h.cost {
			return encodeHash(h.cost, salt, deriveKey(pw, h.cost, salt)), nil
		}
	}
	hash, err := argon2id.CreateHash(pw.Reveal(), &h.cost)
	if err != nil {
		return "", fmt.Errorf("hash password: %w", err)
	}
	return hash, nil
}

func deriveKey(pw secret.Text, cost argon2id.Params, salt []byte) []byte {
	return argon2.IDKey([]byte(pw.Reveal()), salt, cost.Iterations, cost.Memory, cost.Parallelism, cost.KeyLength)
}

// encodeHash writes a hash as argon2id does.
func encodeHash(cost argon2id.Params, salt, key []byte) string {
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, cost.Memory, cost.Iterations, cost.Parallelism,
		base64.RawStdEncoding.EncodeToString(salt), base64.RawStdEncoding.EncodeToString(key))
}

// recipe is what a hash is computed with besides the password.
type recipe struct {
	cost argon2id.Params
	salt string
}

// match returns the place of the first hash that pw has, or -1. stale reports whether that hash should be made anew: at today's cost, and with
// the salt that the address's other accounts have. Hashes of one salt and cost take one computation.
//
// inUse are hashes of each cost that the installation's accounts have. Each of these costs is computed, also where no hash of the address has
// it, so that a stranger cannot tell by the time which addresses have accounts.
func (h *hasher) match(pw secret.Text, hashes, inUse []secret.Text) (place int, stale bool, err error) {
	keys := map[recipe][]byte{}
	var shared, matched recipe // shared: that of the first hash of today's cost
	place = -1
	for i, hash := range hashes {
		if hash.Empty() {
			continue
		}
		r, want, err := decodeHash(hash)
		if err != nil {
			return -1, false, err
		}
		if keys[r] == nil {
			keys[r] = h.derive(pw, r)
		}
		if shared.salt == "" && r.cost == h.cost {
			shared = r
		}
		if subtle.ConstantTimeCompare(keys[r], want) == 1 && place < 0 {
			place, matched = i, r
		}
	}
	h.deriveOthers(pw, keys, inUse)
	return place, place >= 0 && matched != shared, nil
}

// deriveOthers computes each cost of inUse that no key of an account has; where there is none at all, today's.
func (h *hasher) deriveOthers(pw secret.Text, keys map[recipe][]byte, inUse []secret.Text) {
	type cost struct {
		memory, passes uint32
		threads        uint8
	}
	done := map[cost]bool{}
	ensure := func(r recipe) {
		c := cost{r.cost.Memory, r.cost.Iterations, r.cost.Parallelism}
		if !done[c] {
			h.derive(pw, r)
		}
		done[c] = true
	}
	for r := range keys {
		done[cost{r.cost.Memory, r.cost.Iterations, r.cost.Parallelism}] = true
	}
	for _, hash := range inUse {
		if r, _, err := decodeHash(hash); err == nil { // a malformed hash costs its own account the sign-in, not all others
			ensure(r)
		}
	}
	if len(done) == 0 {
		ensure(recipe{h.cost, string(make([]byte, h.cost.SaltLength))})
	}
}

func decodeHash(hash secret.Text) (r recipe, key []byte, err error) {
	cost, salt, key, err := argon2id.DecodeHash(hash.Reveal())
	if err != nil {
		return recipe{}, nil, fmt.Errorf("check password: %w", err)
	}
	return recipe{*cost, string(salt)}, key, nil
}

func (h *hasher) derive(pw secret.Text, r recipe) []byte {
	h.done.Add(int64(r.cost.Memory) * int64(r.cost.Iterations))
	return deriveKey(pw, r.cost, []byte(r.salt))
}
