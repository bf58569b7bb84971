package secret

import (
	"errors"
	"fmt"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/keyset"
	tinkpb "github.com/tink-crypto/tink-go/v2/proto/tink_go_proto"
	"github.com/tink-crypto/tink-go/v2/tink"
)

// Sealer is a keyset that seals and opens secrets: the installation's, in its Keyring, or one tenant's. It is
// immutable and safe for concurrent use.
type Sealer struct {
	keys *keyset.Handle
	aead tink.AEAD
}

// NewSealer makes a sealer of one new key.
func NewSealer() (*Sealer, error) {
	keys, err := keyset.NewHandle(aead.AES256GCMKeyTemplate())
	if err != nil {
		return nil, fmt.Errorf("make a sealing key: %w", err)
	}
	return newSealer(keys)
}

func newSealer(keys *keyset.Handle) (*Sealer, error) {
	a, err := aead.New(keys)
	if err != nil {
		return nil, fmt.Errorf("use the sealing keyset: %w", err)
	}
	return &Sealer{keys: keys, aead: a}, nil
}

// Wrap seals the keys of inner with additional data, for storing.
func (s *Sealer) Wrap(inner *Sealer, ad AD) ([]byte, error) {
	var stored plainAEAD
	if err := inner.keys.WriteWithAssociatedData(&stored, s.aead, ad.toBytes()); err != nil {
		return nil, fmt.Errorf("wrap the keys of %s: %w", ad.Table, err)
	}
	return stored, nil
}

// Unwrap opens a result of Wrap with the same additional data. It fails with ErrUnknownKey if the sealer lacks
// the key.
func (s *Sealer) Unwrap(wrapped []byte, ad AD) (*Sealer, error) {
	stored := plainAEAD(wrapped)
	keys, err := keyset.ReadWithAssociatedData(&stored, s.aead, ad.toBytes())
	if err != nil {
		return nil, s.openError(wrapped, "unwrap the keys of "+ad.Table, err)
	}
	return newSealer(keys)
}

// plainAEAD reads and writes a sealed keyset without tink's envelope, so that it begins with the sealing key's
// prefix like every ciphertext.
type plainAEAD []byte

var errBare = errors.New("a tenant's keys are stored sealed alone")

func (*plainAEAD) Write(*tinkpb.Keyset) error    { return errBare }
func (*plainAEAD) Read() (*tinkpb.Keyset, error) { return nil, errBare }
func (b *plainAEAD) WriteEncrypted(e *tinkpb.EncryptedKeyset) error {
	*b = e.GetEncryptedKeyset()
	return nil
}

func (b *plainAEAD) ReadEncrypted() (*tinkpb.EncryptedKeyset, error) {
	return &tinkpb.EncryptedKeyset{EncryptedKeyset: *b}, nil
}
