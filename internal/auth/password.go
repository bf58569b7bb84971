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

// Password length in characters.
const (
	MinPassword = 10
	MaxPassword = 200
)

// defaultCost has the memory of RFC 9106 section 4, second option, and a third of its passes: still above
// OWASP's minimum of 46 MiB and one pass. Sign-ins are checked one at a time, and a flood must not block all
// others. Parallelism is fixed: replicas with other core counts would rehash each other's hashes.
var defaultCost = argon2id.Params{Memory: 64 * 1024, Iterations: 1, Parallelism: 4, SaltLength: 16, KeyLength: 32}

// maxWaiting bounds the callers that wait to hash; others are refused.
const maxWaiting = 64

// CheckPassword refuses a password outside of the rule, as a fault of the field location.
func CheckPassword(location string, pw secret.Text) error {
	if isAllowedPassword(pw) {
		return nil
	}
	return fault.InvalidFields(newPasswordFault(location))
}

func isAllowedPassword(pw secret.Text) bool {
	n := utf8.RuneCountInString(pw.Reveal())
	return n >= MinPassword && n <= MaxPassword
}

func newPasswordFault(location string) fault.Field {
	return fault.Field{
		Location: location,
		Message:  fmt.Sprintf("Must be %d–%d characters.", MinPassword, MaxPassword),
	}
}

// HashPassword checks pw and hashes it for the accounts of an e-mail address.
func (s *Service) HashPassword(ctx context.Context, email string, pw secret.Text) (string, error) {
	if err := CheckPassword("password", pw); err != nil {
		return "", err
	}
	leave, err := s.hasher.acquireSlot(ctx)
	if err != nil {
		return "", err
	}
	defer leave()
	return s.hashFor(ctx, email, pw)
}

// hashFor hashes with the salt of the address's other accounts, so that a sign-in compares all of them with one
// computation, in a time independent of their number.
func (s *Service) hashFor(ctx context.Context, email string, pw secret.Text) (string, error) {
	users, err := s.store.System().People().UsersByAddress(ctx, email)
	if err != nil {
		return "", fmt.Errorf("find accounts: %w", err)
	}
	return s.hasher.hashPassword(pw, userHashes(users))
}

// hasher computes argon2id one at a time: each takes 64 MiB, and a flood of sign-ins must not exhaust memory.
// It uses four threads, so concurrency would gain little.
type hasher struct {
	cost    argon2id.Params
	slot    chan struct{} // capacity one
	waiting chan struct{}
	done    atomic.Int64 // total of memory in KiB times passes, for tests
}

func newHasher(cost argon2id.Params) *hasher {
	return &hasher{
		cost:    cost,
		slot:    make(chan struct{}, 1),
		waiting: make(chan struct{}, maxWaiting),
	}
}

// acquireSlot waits for the slot. The caller must call leave.
func (h *hasher) acquireSlot(ctx context.Context) (leave func(), err error) {
	select {
	case h.waiting <- struct{}{}:
		defer func() { <-h.waiting }()
	default:
		f := fault.Errorf(fault.Unavailable, "Too many sign-ins. Try again in a few seconds.")
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

// hashPassword uses the salt of the first of others with the current cost, or a new one.
func (h *hasher) hashPassword(pw secret.Text, others []secret.Text) (string, error) {
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

// encodeHash returns the standard argon2id encoding.
func encodeHash(cost argon2id.Params, salt, key []byte) string {
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, cost.Memory, cost.Iterations, cost.Parallelism,
		base64.RawStdEncoding.EncodeToString(salt), base64.RawStdEncoding.EncodeToString(key))
}

// hashParams are the salt and cost of a hash.
type hashParams struct {
	cost argon2id.Params
	salt string
}

// findMatch returns the index of the first hash that pw matches, or -1. stale reports whether that hash should
// be renewed with the current cost and the salt of the address's other accounts. Hashes of one salt and cost
// take one computation. inUse has hashes of each cost in the installation. Each cost is computed even without a
// hash of the address, so that timing does not reveal which addresses have accounts.
func (h *hasher) findMatch(pw secret.Text, hashes, inUse []secret.Text) (place int, stale bool, err error) {
	keys := map[hashParams][]byte{}
	var shared, matched hashParams // shared: of the first hash of the current cost
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
			keys[r] = h.deriveKey(pw, r)
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

// deriveOthers computes each cost of inUse that no account of the address has; without any, the current cost.
func (h *hasher) deriveOthers(pw secret.Text, keys map[hashParams][]byte, inUse []secret.Text) {
	type cost struct {
		memory, passes uint32
		threads        uint8
	}
	done := map[cost]bool{}
	ensure := func(r hashParams) {
		c := cost{r.cost.Memory, r.cost.Iterations, r.cost.Parallelism}
		if !done[c] {
			h.deriveKey(pw, r)
		}
		done[c] = true
	}
	for r := range keys {
		done[cost{r.cost.Memory, r.cost.Iterations, r.cost.Parallelism}] = true
	}
	for _, hash := range inUse {
		if r, _, err := decodeHash(hash); err == nil { // a malformed hash fails only its own account's sign-in
			ensure(r)
		}
	}
	if len(done) == 0 {
		ensure(hashParams{h.cost, string(make([]byte, h.cost.SaltLength))})
	}
}

func decodeHash(hash secret.Text) (r hashParams, key []byte, err error) {
	cost, salt, key, err := argon2id.DecodeHash(hash.Reveal())
	if err != nil {
		return hashParams{}, nil, fmt.Errorf("check password: %w", err)
	}
	return hashParams{*cost, string(salt)}, key, nil
}

func (h *hasher) deriveKey(pw secret.Text, r hashParams) []byte {
	h.done.Add(int64(r.cost.Memory) * int64(r.cost.Iterations))
	return deriveKey(pw, r.cost, []byte(r.salt))
}
