package secret

import (
	"encoding/binary"
	"fmt"
)

// AD is the additional data of a sealed secret: it opens only with the same.
type AD struct {
	Tenant string
	Table  string
	Column string
	Row    string
}

// toBytes joins the parts with their lengths, which is unambiguous.
func (ad AD) toBytes() []byte { return joinParts(ad.Tenant, ad.Table, ad.Column, ad.Row) }

// Seal encrypts plain with additional data. Bytes 2–5 of the result are the key's id.
func (s *Sealer) Seal(plain Text, ad AD) ([]byte, error) {
	sealed, err := s.aead.Encrypt([]byte(plain.Reveal()), ad.toBytes())
	if err != nil {
		return nil, fmt.Errorf("seal a secret of %s: %w", ad.Table, err)
	}
	return sealed, nil
}

// Open decrypts a result of Seal with the same additional data. It fails with ErrUnknownKey if the sealer lacks
// the key, else with ErrAltered.
func (s *Sealer) Open(sealed []byte, ad AD) (Text, error) {
	plain, err := s.aead.Decrypt(sealed, ad.toBytes())
	if err != nil {
		return "", s.openError(sealed, "open a secret of "+ad.Table, fmt.Errorf("%w: %w", ErrAltered, err))
	}
	return Text(plain), nil
}

func (s *Sealer) openError(sealed []byte, doing string, err error) error {
	if id, ok := SealedBy(sealed); ok && !s.Holds(id) {
		return fmt.Errorf("%s: %w: %s", doing, ErrUnknownKey, id)
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// MAC authenticates data for a purpose, as "api key". MACs of one purpose do not verify for another.
func (k *Keyring) MAC(purpose string, data []byte) ([]byte, error) {
	m, err := k.mac.ComputeMAC(joinParts(purpose, string(data)))
	if err != nil {
		return nil, fmt.Errorf("authenticate %s: %w", purpose, err)
	}
	return m, nil
}

// VerifyMAC returns nil if mac is one of data for purpose. It compares in constant time.
func (k *Keyring) VerifyMAC(purpose string, data, mac []byte) error {
	if err := k.mac.VerifyMAC(mac, joinParts(purpose, string(data))); err != nil {
		return fmt.Errorf("verify %s: %w", purpose, err)
	}
	return nil
}

func joinParts(parts ...string) []byte {
	var b []byte
	for _, p := range parts {
		b = binary.AppendUvarint(b, uint64(len(p)))
		b = append(b, p...)
	}
	return b
}
