package secret

import (
	"crypto"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"fmt"
	"hash"

	"github.com/tink-crypto/tink-go/v2/keyset"
)

// Signer makes signatures that others verify offline by its public key: Ed25519ph with a context (RFC 8032
// section 5.1), which signs long texts as a stream.
type Signer struct {
	key     ed25519.PrivateKey
	purpose string
}

// Signer returns the signer of a purpose, as "audit export", for an owner. Its key is derived from the first
// MAC key and stored nowhere. So it is the same in every process, after a restore and after a rotation, as
// holders of the public key require.
func (k *Keyring) Signer(purpose, of string) (Signer, error) {
	first, err := k.changedMAC(k.version, func(m *keyset.Manager) error { return m.SetPrimary(uint32(k.MACKeys()[0])) })
	if err != nil {
		return Signer{}, err
	}
	mac, err := first.MAC("signing key", joinParts(purpose, of))
	if err != nil {
		return Signer{}, err
	}
	seed := sha256.Sum256(mac)
	return Signer{key: ed25519.NewKeyFromSeed(seed[:]), purpose: purpose}, nil
}

// PublicKey returns the public key: 32 bytes in base64.
func (s Signer) PublicKey() string {
	public, _ := s.key.Public().(ed25519.PublicKey)
	return base64.StdEncoding.EncodeToString(public)
}

// NewSigned returns the hash to write a text to that is signed or verified.
func NewSigned() hash.Hash { return sha512.New() }

// Sign signs the text that was written to h: 64 bytes in base64.
func (s Signer) Sign(h hash.Hash) (string, error) {
	signature, err := s.key.Sign(nil, h.Sum(nil), &ed25519.Options{Hash: crypto.SHA512, Context: s.purpose})
	if err != nil {
		return "", fmt.Errorf("sign %s: %w", s.purpose, err)
	}
	return base64.StdEncoding.EncodeToString(signature), nil
}

// VerifySigned returns nil if signature is the public key's for the text that was written to h, and for the
// purpose.
func VerifySigned(publicKey, purpose, signature string, h hash.Hash) error {
	key, err := base64.StdEncoding.DecodeString(publicKey)
	if err != nil || len(key) != ed25519.PublicKeySize {
		return fmt.Errorf("read the public key: not %d bytes in base64", ed25519.PublicKeySize)
	}
	sig, err := base64.StdEncoding.DecodeString(signature)
	if err != nil {
		return fmt.Errorf("read the signature: %w", err)
	}
	return ed25519.VerifyWithOptions(key, h.Sum(nil), sig, &ed25519.Options{Hash: crypto.SHA512, Context: purpose})
}
