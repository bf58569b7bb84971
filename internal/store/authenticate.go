package store

import (
	"context"
	"slices"

	"patchbay/internal/secret"
	"patchbay/internal/store/dbgen"
)

// VerifyBearer tells whether mac, as it is stored, is that of an API key or an agent's token; nil: it is. Where it was made by a key that this
// process has not read yet, the keys are read.
func (s *Store) VerifyBearer(ctx context.Context, b secret.Bearer, mac []byte) error {
	return s.keyring.verify(ctx, mac, func(k *secret.Keyring) error { return k.VerifyBearer(b, mac) })
}

// VerifyMAC is the same for what is no bearer's.
func (s *Store) VerifyMAC(ctx context.Context, purpose string, data, mac []byte) error {
	return s.keyring.verify(ctx, mac, func(k *secret.Keyring) error { return k.VerifyMAC(purpose, data, mac) })
}

func (r *ring) verify(ctx context.Context, mac []byte, by func(*secret.Keyring) error) error {
	have := r.now.Load()
	err := by(have.Keyring)
	id, ok := secret.SealedBy(mac)
	if err == nil || !ok || slices.Contains(have.MACKeys(), id) {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, rereadTime)
	defer cancel()
	if err := r.reread(ctx, have); err != nil {
		return err
	}
	return by(r.now.Load().Keyring)
}

// authenticating is what authenticates where the rotation of the sealing keys comes to a stage: both go together, so that who has the one has
// the other. A rotation that an older program has begun goes on without.
func authenticating(ctx context.Context, q *dbgen.Queries, k *secret.Keyring, to stage) (*secret.Keyring, error) {
	switch waits := k.MACNewest() != k.MACPrimary(); {
	case to == stageAdded && !waits:
		return newMAC(ctx, q, k)
	case to == stagePromoted && waits:
		return k.WithMACPromoted()
	case to == stageSettled:
		return retireMACs(ctx, q, k)
	}
	return k, nil
}

func newMAC(ctx context.Context, q *dbgen.Queries, k *secret.Keyring) (*secret.Keyring, error) {
	for {
		next, err := k.WithNewMAC()
		if err != nil {
			return nil, err
		}
		// An id is 32 random bits. What one that was retired has made would be refused for ever.
		retired, err := q.IsRetiredMACKey(ctx, next.MACNewest().Prefix())
		if err != nil || !retired {
			return next, err
		}
	}
}

// retireMACs drops the older keys that nobody is recognised by. Nobody can be about to store such a thing, as for the sealing keys.
func retireMACs(ctx context.Context, q *dbgen.Queries, k *secret.Keyring) (*secret.Keyring, error) {
	recognised, err := q.RecognisedBy(ctx)
	if err != nil {
		return nil, err
	}
	var gone []secret.KeyID
	for _, id := range k.MACKeys()[1:] { // the first signs exports
		used := slices.ContainsFunc(recognised, func(r dbgen.RecognisedByRow) bool { return string(r.Prefix) == string(id.Prefix()) })
		if used || id == k.MACPrimary() || id == k.MACNewest() { // the newest waits where an older program has ended the rotation
			continue
		}
		if err := q.RetireMACKey(ctx, id.Prefix()); err != nil {
			return nil, err
		}
		gone = append(gone, id)
	}
	if len(gone) == 0 {
		return k, nil
	}
	return k.WithoutMACs(gone)
}

// tellBearersKept tells of what is still recognised by an older key.
func (r *rotation) tellBearersKept(ctx context.Context) error {
	recognised, err := dbgen.New(r.scope).RecognisedBy(ctx)
	if err != nil {
		return err
	}
	have := r.keys.now.Load()
	kept := RotationProgress{Step: BearersKept}
	for _, by := range recognised {
		if id, ok := secret.SealedBy(by.Prefix); ok && id != have.MACPrimary() && slices.Contains(have.MACKeys(), id) {
			kept.Done += int(by.ApiKeys)
			kept.Total += int(by.Tokens)
			kept.Codes += int(by.Codes)
		}
	}
	if kept.Done+kept.Total+kept.Codes > 0 {
		r.notify(kept)
	}
	return nil
}
