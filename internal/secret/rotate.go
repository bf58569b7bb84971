package secret

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/keyset"
)

// ErrUnknownKey means that a secret was sealed by a key outside of the keyset.
var ErrUnknownKey = errors.New("sealed by an unknown key")

// ErrAltered means that a secret is not what its key sealed with the same additional data.
var ErrAltered = errors.New("not as sealed")

// KeyID identifies a sealing key. It is no secret.
type KeyID uint32

// String is the id in hexadecimal.
func (id KeyID) String() string { return fmt.Sprintf("%08x", uint32(id)) }

// prefixSize is the length of tink's ciphertext prefix: version and key id.
const (
	prefixSize  = 5
	tinkVersion = 1
)

// Prefix returns the first bytes of the key's ciphertexts.
func (id KeyID) Prefix() []byte {
	return binary.BigEndian.AppendUint32([]byte{tinkVersion}, uint32(id))
}

// SealedBy returns the key that sealed a secret; false: none.
func SealedBy(sealed []byte) (KeyID, bool) {
	if len(sealed) < prefixSize || sealed[0] != tinkVersion {
		return 0, false
	}
	return KeyID(binary.BigEndian.Uint32(sealed[1:prefixSize])), true
}

// Keys lists the sealing keys, oldest first.
func (s *Sealer) Keys() []KeyID {
	return keyIDs(s.keys)
}

func keyIDs(h *keyset.Handle) []KeyID {
	info := h.KeysetInfo().GetKeyInfo()
	ids := make([]KeyID, len(info))
	for i, key := range info {
		ids[i] = KeyID(key.GetKeyId())
	}
	return ids
}

// Holds reports whether a sealing key is in the keyset.
func (s *Sealer) Holds(id KeyID) bool { return slices.Contains(s.Keys(), id) }

// Primary returns the key that seals.
func (s *Sealer) Primary() KeyID { return KeyID(s.keys.KeysetInfo().GetPrimaryKeyId()) }

// Newest returns the key that was added last.
func (s *Sealer) Newest() KeyID {
	ids := s.Keys()
	return ids[len(ids)-1]
}

// WithNewKey returns the sealer with another key, which only opens yet.
func (s *Sealer) WithNewKey() (*Sealer, error) {
	return s.changeKeys("add a sealing key", func(m *keyset.Manager) error {
		_, err := m.Add(aead.AES256GCMKeyTemplate())
		return err
	})
}

// Promoted returns the sealer with its newest key as primary.
func (s *Sealer) Promoted() (*Sealer, error) {
	return s.changeKeys("promote a sealing key", func(m *keyset.Manager) error { return m.SetPrimary(uint32(s.Newest())) })
}

// Retired returns the sealer with its primary key alone: older ciphertexts no longer open.
func (s *Sealer) Retired() (*Sealer, error) {
	return s.changeKeys("retire the old sealing keys", func(m *keyset.Manager) error {
		for _, id := range s.Keys() {
			if id == s.Primary() {
				continue
			}
			if err := m.Delete(uint32(id)); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *Sealer) changeKeys(doing string, change func(*keyset.Manager) error) (*Sealer, error) {
	m := keyset.NewManagerFromHandle(s.keys)
	if err := change(m); err != nil {
		return nil, fmt.Errorf("%s: %w", doing, err)
	}
	keys, err := m.Handle()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", doing, err)
	}
	return newSealer(keys)
}

// With returns the keyring with other sealing keys and the same MAC keys.
func (k *Keyring) With(sealing *Sealer) *Keyring {
	return &Keyring{Sealer: sealing, signing: k.signing, mac: k.mac, version: k.version}
}
