package secret

import (
	"fmt"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/keyset"
	tinkpb "github.com/tink-crypto/tink-go/v2/proto/tink_go_proto"
	"github.com/tink-crypto/tink-go/v2/tink"
)

// Sealer is a set of keys that seal and open secrets: the installation's, within its Keyring, or one tenant's. It never changes, and is
// safe for concurrent use.
type Sealer struct {
	keys *keyset.Handle
	aead tink.AEAD
}

// NewSealer makes a sealer of one fresh key.
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

// Wrap seals the keys of inner for their place, for storing. Like any sealed secret the result names the key that sealed it.
func (s *Sealer) Wrap(inner *Sealer, ad AD) ([]byte, error) {
	var stored keyset.MemReaderWriter
	if err := inner.keys.WriteWithAssociatedData(&stored, s.aead, ad.bytes()); err != nil {
		return nil, fmt.Errorf("wrap the keys of %s: %w", ad.Table, err)
	}
	return stored.EncryptedKeyset.GetEncryptedKeyset(), nil
}

// Unwrap opens what Wrap made for the same place. The error is ErrUnknownKey where the sealer lacks the key.
func (s *Sealer) Unwrap(wrapped []byte, ad AD) (*Sealer, error) {
	stored := keyset.MemReaderWriter{EncryptedKeyset: &tinkpb.EncryptedKeyset{EncryptedKeyset: wrapped}}
	keys, err := keyset.ReadWithAssociatedData(&stored, s.aead, ad.bytes())
	if err != nil {
		return nil, s.unopened(wrapped, "unwrap the keys of "+ad.Table, err)
	}
	return newSealer(keys)
}
