package secret

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/tink-crypto/tink-go/v2/aead/subtle"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/mac"
	"github.com/tink-crypto/tink-go/v2/tink"
)

// ErrWrongKEK means that a KEK does not open a wrapped keyring.
var ErrWrongKEK = errors.New("the key does not open the keyring")

// Keyring seals and opens secrets, and makes MACs. It is immutable and safe for concurrent use.
type Keyring struct {
	*Sealer
	signing *keyset.Handle
	mac     tink.MAC
	version int // of the MAC keys; 0: the first
}

// Wrapped is a stored keyring: both keysets, encrypted by a KEK.
type Wrapped struct {
	Seal []byte
	MAC  []byte
}

// NewKeyring makes a keyring of new keys.
func NewKeyring() (*Keyring, error) {
	sealing, err := NewSealer()
	if err != nil {
		return nil, err
	}
	signing, err := keyset.NewHandle(mac.HMACSHA256Tag256KeyTemplate())
	if err != nil {
		return nil, fmt.Errorf("make the authentication key: %w", err)
	}
	return newKeyring(sealing, signing)
}

func newKeyring(sealing *Sealer, signing *keyset.Handle) (*Keyring, error) {
	m, err := mac.New(signing)
	if err != nil {
		return nil, fmt.Errorf("use the authentication keyset: %w", err)
	}
	return &Keyring{Sealer: sealing, signing: signing, mac: m}, nil
}

// Associated data of the wrapped keysets: they cannot be swapped.
var (
	sealPlace = []byte("patchbay keyset seal")
	macPlace  = []byte("patchbay keyset mac")
)

// WrapWith encrypts the keyring by kek.
func (k *Keyring) WrapWith(kek KEK) (Wrapped, error) {
	master, err := kek.newAEAD()
	if err != nil {
		return Wrapped{}, err
	}
	var seal, auth bytes.Buffer
	if err := k.keys.WriteWithAssociatedData(keyset.NewBinaryWriter(&seal), master, sealPlace); err != nil {
		return Wrapped{}, fmt.Errorf("wrap the sealing keyset: %w", err)
	}
	if err := k.signing.WriteWithAssociatedData(keyset.NewBinaryWriter(&auth), master, macPlace); err != nil {
		return Wrapped{}, fmt.Errorf("wrap the authentication keyset: %w", err)
	}
	return Wrapped{Seal: seal.Bytes(), MAC: auth.Bytes()}, nil
}

// Unwrap opens a stored keyring. It fails with ErrWrongKEK if another KEK wrapped it.
func Unwrap(kek KEK, w Wrapped) (*Keyring, error) {
	master, err := kek.newAEAD()
	if err != nil {
		return nil, err
	}
	keys, err := keyset.ReadWithAssociatedData(keyset.NewBinaryReader(bytes.NewReader(w.Seal)), master, sealPlace)
	if err != nil {
		return nil, fmt.Errorf("%w: sealing keyset: %w", ErrWrongKEK, err)
	}
	signing, err := keyset.ReadWithAssociatedData(keyset.NewBinaryReader(bytes.NewReader(w.MAC)), master, macPlace)
	if err != nil {
		return nil, fmt.Errorf("%w: authentication keyset: %w", ErrWrongKEK, err)
	}
	sealing, err := newSealer(keys)
	if err != nil {
		return nil, err
	}
	return newKeyring(sealing, signing)
}

func (k KEK) newAEAD() (tink.AEAD, error) {
	if k.IsZero() {
		return nil, fmt.Errorf("%w: no key is set", ErrWrongKEK)
	}
	a, err := subtle.NewAESGCM(k.key[:])
	if err != nil {
		return nil, fmt.Errorf("use the key: %w", err)
	}
	return a, nil
}
