package secret

import (
	"fmt"

	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/mac"
)

// MAC keys have versions: the primary key makes new MACs, and older ones verify theirs. The first key is never
// dropped: the export signer is derived from it.

// MACKeys lists the MAC keys, oldest first.
func (k *Keyring) MACKeys() []KeyID { return keyIDs(k.signing) }

// MACPrimary returns the key of new MACs.
func (k *Keyring) MACPrimary() KeyID { return KeyID(k.signing.KeysetInfo().GetPrimaryKeyId()) }

// MACNewest returns the key that was added last.
func (k *Keyring) MACNewest() KeyID {
	ids := k.MACKeys()
	return ids[len(ids)-1]
}

// WithNewMAC returns the keyring with another MAC key, which only verifies yet.
func (k *Keyring) WithNewMAC() (*Keyring, error) {
	return k.changedMAC(k.version, func(m *keyset.Manager) error {
		_, err := m.Add(mac.HMACSHA256Tag256KeyTemplate())
		return err
	})
}

// WithMACPromoted returns the keyring with the newest MAC key as primary, which is the next version.
func (k *Keyring) WithMACPromoted() (*Keyring, error) {
	return k.changedMAC(k.Version()+1, func(m *keyset.Manager) error { return m.SetPrimary(uint32(k.MACNewest())) })
}

// WithoutMACs returns the keyring without some MAC keys. Their MACs no longer verify.
func (k *Keyring) WithoutMACs(gone []KeyID) (*Keyring, error) {
	return k.changedMAC(k.version, func(m *keyset.Manager) error {
		for _, id := range gone {
			if err := m.Delete(uint32(id)); err != nil {
				return err
			}
		}
		return nil
	})
}

func (k *Keyring) changedMAC(version int, change func(*keyset.Manager) error) (*Keyring, error) {
	m := keyset.NewManagerFromHandle(k.signing)
	if err := change(m); err != nil {
		return nil, fmt.Errorf("change the authentication keys: %w", err)
	}
	signing, err := m.Handle()
	if err != nil {
		return nil, fmt.Errorf("change the authentication keys: %w", err)
	}
	changed, err := newKeyring(k.Sealer, signing)
	if err != nil {
		return nil, err
	}
	return changed.OfVersion(version), nil
}

// OfVersion returns the keyring with a known number of primary MAC keys so far.
func (k *Keyring) OfVersion(n int) *Keyring {
	same := *k
	same.version = n
	return &same
}

// Version counts the primary MAC keys so far, from 1.
func (k *Keyring) Version() int { return max(k.version, 1) }
