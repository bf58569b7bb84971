package secret

import (
	"encoding/binary"
	"fmt"
)

// AD is the place of a sealed secret. It is authenticated with the ciphertext, so a secret opens in its own place only.
type AD struct {
	Tenant string
	Table  string
	Column string
	Row    string
}

// bytes joins the parts with their lengths, so that no two places read the same.
func (ad AD) bytes() []byte { return joined(ad.Tenant, ad.Table, ad.Column, ad.Row) }

// Seal encrypts plain for its place. The key's id stands in bytes 2–5 of the result.
func (s *Sealer) Seal(plain Text, ad AD) ([]byte, error) {
	sealed, err := s.aead.Encrypt([]byte(plain.Reveal()), ad.bytes())
	if err != nil {
		return nil, fmt.Errorf("seal a secret of %s: %w", ad.Table, err)
	}
	return sealed, nil
}

// Open decrypts what Seal made for the same place. The error is ErrUnknownKey where the sealer lacks the key.
func (s *Sealer) Open(sealed []byte, ad AD) (Text, error) {
	plain, err := s.aead.Decrypt(sealed, ad.bytes())
	if err != nil {
		return "", s.unopened(sealed, "open a secret of "+ad.Table, err)
	}
	return Text(plain), nil
}

func (s *Sealer) unopened(sealed []byte, doing string, err error) error {
	if id, ok := SealedBy(sealed); ok && !s.Holds(id) {
		return fmt.Errorf("%s: %w: %s", doing, ErrUnknownKey, id)
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// MAC authenticates data for a purpose, as "api key". Data of one purpose does not verify for another.
func (k *Keyring) MAC(purpose string, data []byte) ([]byte, error) {
	m, err := k.mac.ComputeMAC(joined(purpose, string(data)))
	if err != nil {
		return nil, fmt.Errorf("authenticate %s: %w", purpose, err)
	}
	return m, nil
}

// VerifyMAC tells, in constant time, whether mac is one of data for purpose; nil: it is.
func (k *Keyring) VerifyMAC(purpose string, data, mac []byte) error {
	if err := k.mac.VerifyMAC(mac, joined(purpose, string(data))); err != nil {
		return fmt.Errorf("verify %s: %w", purpose, err)
	}
	return nil
}

func joined(parts ...string) []byte {
	var b []byte
	for _, p := range parts {
		b = binary.AppendUvarint(b, uint64(len(p)))
		b = append(b, p...)
	}
	return b
}
