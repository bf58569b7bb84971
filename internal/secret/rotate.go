package secret

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/keyset"
)

// ErrUnknownKey says that a secret was sealed by a key that the keyring lacks.
var ErrUnknownKey = errors.New("sealed by an unknown key")

// KeyID names a sealing key. It is no secret.
type KeyID uint32

// String is the id in hexadecimal.
func (id KeyID) String() string { return fmt.Sprintf("%08x", uint32(id)) }

// prefixSize is the length of what tink writes before a ciphertext: its version and the key's id.
const (
	prefixSize  = 5
	tinkVersion = 1
)

// Prefix is how everything begins that the key has sealed.
func (id KeyID) Prefix() []byte {
	return binary.BigEndian.AppendUint32([]byte{tinkVersion}, uint32(id))
}

// SealedBy reads which key sealed a secret; false: it was sealed by none.
func SealedBy(sealed []byte) (KeyID, bool) {
	if len(sealed) < prefixSize || sealed[0] != tinkVersion {
		return 0, false
	}
	return KeyID(binary.BigEndian.Uint32(sealed[1:prefixSize])), true
}

// Keys lists the sealing keys, oldest first.
func (k *Keyring) Keys() []KeyID {
	info := k.sealing.KeysetInfo().GetKeyInfo()
	ids := make([]KeyID, len(info))
	for i, key := range info {
		ids[i] = KeyID(key.GetKeyId())
	}
	return ids
}

// Holds tells whether a sealing key is in the keyring.
func (k *Keyring) Holds(id KeyID) bool { return slices.Contains(k.Keys(), id) }

// Primary is the key that seals.
func (k *Keyring) Primary() KeyID { return KeyID(k.sealing.KeysetInfo().GetPrimaryKeyId()) }

// Newest is the key that was added last.
func (k *Keyring) Newest() KeyID {
	ids := k.Keys()
	return ids[len(ids)-1]
}

// WithNewKey is the keyring with one more key, which opens and does not seal yet.
func (k *Keyring) WithNewKey() (*Keyring, error) {
	return k.changed("add a sealing key", func(m *keyset.Manager) error {
		_, err := m.Add(aead.AES256GCMKeyTemplate())
		return err
	})
}

// Promoted is the keyring with its newest key as the one that seals.
func (k *Keyring) Promoted() (*Keyring, error) {
	return k.changed("promote a sealing key", func(m *keyset.Manager) error { return m.SetPrimary(uint32(k.Newest())) })
}

// Retired is the keyring without the keys that do not seal: what they sealed does not open any more.
func (k *Keyring) Retired() (*Keyring, error) {
	return k.changed("retire the old sealing keys", func(m *keyset.Manager) error {
		for _, id := range k.Keys() {
			if id == k.Primary() {
				continue
			}
			if err := m.Delete(uint32(id)); err != nil {
				return err
			}
		}
		return nil
	})
}

func (k *Keyring) changed(doing string, change func(*keyset.Manager) error) (*Keyring, error) {
	m := keyset.NewManagerFromHandle(k.sealing)
	if err := change(m); err != nil {
		return nil, fmt.Errorf("%s: %w", doing, err)
	}
	sealing, err := m.Handle()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", doing, err)
	}
	return newKeyring(sealing, k.signing)
}
