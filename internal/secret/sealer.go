package secret

import (
	"errors"
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
	var stored bare
	if err := inner.keys.WriteWithAssociatedData(&stored, s.aead, ad.bytes()); err != nil {
		return nil, fmt.Errorf("wrap the keys of %s: %w", ad.Table, err)
	}
	return stored, nil
}

// Unwrap opens what Wrap made for the same place. The error is ErrUnknownKey where the sealer lacks the key.
func (s *Sealer) Unwrap(wrapped []byte, ad AD) (*Sealer, error) {
	stored := bare(wrapped)
	keys, err := keyset.ReadWithAssociatedData(&stored, s.aead, ad.bytes())
	if err != nil {
		return nil, s.unopened(wrapped, "unwrap the keys of "+ad.Table, err)
	}
	return newSealer(keys)
}

// bare is a sealed keyset without the envelope that tink writes around it: it begins with the prefix of the key that sealed it, as all does
// that is sealed.
type bare []byte

var errBare = errors.New("a tenant's keys are stored sealed alone")

func (*bare) Write(*tinkpb.Keyset) error    { return errBare }
func (*bare) Read() (*tinkpb.Keyset, error) { return nil, errBare }
func (b *bare) WriteEncrypted(e *tinkpb.EncryptedKeyset) error {
	*b = e.GetEncryptedKeyset()
	return nil
}

func (b *bare) ReadEncrypted() (*tinkpb.EncryptedKeyset, error) {
	return &tinkpb.EncryptedKeyset{EncryptedKeyset: *b}, nil
}
