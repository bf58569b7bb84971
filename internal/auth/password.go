package auth

import (
	"context"
	"encoding/base64"
	"fmt"
	"sync/atomic"
	"unicode/utf8"

	"github.com/alexedwards/argon2id"

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

// HashPassword checks pw against the rule and hashes it.
func (s *Service) HashPassword(ctx context.Context, pw secret.Text) (string, error) {
	if err := CheckPassword("password", pw); err != nil {
		return "", err
	}
	leave, err := s.hasher.enter(ctx)
	if err != nil {
		return "", err
	}
	defer leave()
	return s.hasher.hash(pw)
}

// hasher computes argon2id one at a time: a computation takes 64 MiB, and a flood of sign-ins must not take the memory
// of the machine. It uses four threads by itself, so that a second one at the same time would gain little.
type hasher struct {
	cost    argon2id.Params
	decoy   string        // a well-formed hash that no password has
	slot    chan struct{} // holds one token
	waiting chan struct{}
	done    atomic.Int64 // of all checks: memory in KiB times passes, for tests
}

func newHasher(cost argon2id.Params) *hasher {
	zero := func(n uint32) string { return base64.RawStdEncoding.EncodeToString(make([]byte, n)) }
	return &hasher{
		cost: cost,
		decoy: fmt.Sprintf("$argon2id$v=19$m=%d,t=%d,p=%d$%s$%s",
			cost.Memory, cost.Iterations, cost.Parallelism, zero(cost.SaltLength), zero(cost.KeyLength)),
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

func (h *hasher) hash(pw secret.Text) (string, error) {
	hash, err := argon2id.CreateHash(pw.Reveal(), &h.cost)
	if err != nil {
		return "", fmt.Errorf("hash password: %w", err)
	}
	return hash, nil
}

// verify tells whether pw has the hash, and whether the hash was made at another cost than today's. Without a hash it
// takes the same time and says no, so that a stranger cannot tell which accounts exist.
func (h *hasher) verify(pw, hash secret.Text) (ok, stale bool, err error) {
	if hash.Empty() {
		hash = secret.Text(h.decoy)
	}
	ok, cost, err := argon2id.CheckHash(pw.Reveal(), hash.Reveal())
	if err != nil {
		return false, false, fmt.Errorf("check password: %w", err)
	}
	h.done.Add(int64(cost.Memory) * int64(cost.Iterations))
	return ok, *cost != h.cost, nil
}
