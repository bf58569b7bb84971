package store

import (
	"context"
	"slices"

	"patchbay/internal/secret"
	"patchbay/internal/store/dbgen"
)

// VerifyBearer returns nil if mac is the stored MAC of an API key or agent token. It reloads the keys for a MAC
// by an unknown key.
func (s *Store) VerifyBearer(ctx context.Context, b secret.Bearer, mac []byte) error {
	return s.keyring.verifyMAC(ctx, mac, func(k *secret.Keyring) error { return k.VerifyBearer(b, mac) })
}

// VerifyMAC is [Store.VerifyBearer] for data that is no bearer token.
func (s *Store) VerifyMAC(ctx context.Context, purpose string, data, mac []byte) error {
	return s.keyring.verifyMAC(ctx, mac, func(k *secret.Keyring) error { return k.VerifyMAC(purpose, data, mac) })
}

func (k *liveKeyring) verifyMAC(ctx context.Context, mac []byte, by func(*secret.Keyring) error) error {
	have := k.current.Load()
	err := by(have.Keyring)
	id, ok := secret.SealedBy(mac)
	if err == nil || !ok || slices.Contains(have.MACKeys(), id) {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, reloadTimeout)
	defer cancel()
	if err := k.reloadKeys(ctx, have); err != nil {
		return err
	}
	return by(k.current.Load().Keyring)
}

// rotateMACKeys changes the MAC keys in the same step as the sealing keys, so that a process has both or
// neither. A rotation that an older release began continues without.
func rotateMACKeys(ctx context.Context, q *dbgen.Queries, k *secret.Keyring, to rotationStage) (*secret.Keyring, error) {
	switch waits := k.MACNewest() != k.MACPrimary(); {
	case to == stageAdded && !waits:
		return addMACKey(ctx, q, k)
	case to == stagePromoted && waits:
		return k.WithMACPromoted()
	case to == stageSingle:
		return retireMACKeys(ctx, q, k)
	}
	return k, nil
}

func addMACKey(ctx context.Context, q *dbgen.Queries, k *secret.Keyring) (*secret.Keyring, error) {
	for {
		next, err := k.WithNewMAC()
		if err != nil {
			return nil, err
		}
		// An id is 32 random bits. MACs by the id of a retired key would be refused for ever.
		retired, err := q.IsRetiredMACKey(ctx, next.MACNewest().Prefix())
		if err != nil || !retired {
			return next, err
		}
	}
}

// retireMACKeys drops older keys that no stored MAC uses. The caller's lock excludes concurrent writes with
// them, as for sealing keys.
func retireMACKeys(ctx context.Context, q *dbgen.Queries, k *secret.Keyring) (*secret.Keyring, error) {
	recognised, err := q.CountsByMACKey(ctx)
	if err != nil {
		return nil, err
	}
	var unused []secret.KeyID
	for _, id := range k.MACKeys()[1:] { // the first signs exports
		used := slices.ContainsFunc(recognised, func(r dbgen.CountsByMACKeyRow) bool { return string(r.Prefix) == string(id.Prefix()) })
		if used || id == k.MACPrimary() || id == k.MACNewest() { // the newest waits if an older release ended the rotation
			continue
		}
		if err := q.RetireMACKey(ctx, id.Prefix()); err != nil {
			return nil, err
		}
		unused = append(unused, id)
	}
	if len(unused) == 0 {
		return k, nil
	}
	return k.WithoutMACs(unused)
}

// reportBearersKept reports the tokens that an older key still verifies.
func (r *rotation) reportBearersKept(ctx context.Context) error {
	recognised, err := dbgen.New(r.scope).CountsByMACKey(ctx)
	if err != nil {
		return err
	}
	have := r.keys.current.Load()
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
