package secret

import (
	"fmt"

	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/mac"
)

// What authenticates has versions, too: the primary key makes what is stored from now on, and an older one recognises what it has made. The
// first stays for good: what signs exports is derived from it.

// MACKeys lists the keys that authenticate, oldest first.
func (k *Keyring) MACKeys() []KeyID { return keyIDs(k.signing) }

// MACPrimary is the key that authenticates what is made from now on.
func (k *Keyring) MACPrimary() KeyID { return KeyID(k.signing.KeysetInfo().GetPrimaryKeyId()) }

// MACNewest is the key that was added last.
func (k *Keyring) MACNewest() KeyID {
	ids := k.MACKeys()
	return ids[len(ids)-1]
}

// WithNewMAC is the keyring with one more key that authenticates, which recognises and makes nothing yet.
func (k *Keyring) WithNewMAC() (*Keyring, error) {
	return k.changedMAC(k.version, func(m *keyset.Manager) error {
		_, err := m.Add(mac.HMACSHA256Tag256KeyTemplate())
		return err
	})
}

// WithMACPromoted is the keyring with its newest key as the one that authenticates, and so of the next version.
func (k *Keyring) WithMACPromoted() (*Keyring, error) {
	return k.changedMAC(k.Version()+1, func(m *keyset.Manager) error { return m.SetPrimary(uint32(k.MACNewest())) })
}

// WithoutMACs is the keyring without some of the keys that authenticate. What they have made is not recognised any more.
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

// OfVersion is the keyring where it is known how many keys have authenticated before.
func (k *Keyring) OfVersion(n int) *Keyring {
	same := *k
	same.version = n
	return &same
}

// Version counts the keys that have authenticated, from 1.
func (k *Keyring) Version() int { return max(k.version, 1) }
