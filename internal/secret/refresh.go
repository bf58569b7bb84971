package secret

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"

	"github.com/tink-crypto/tink-go/v2/keyset"
)

// generationSize is the number of bytes of a refresh token's secret that hold its generation; the other 224
// bits authenticate it.
const generationSize = 4

// RefreshToken returns the refresh token of a generation. It is derived from the line's id and salt by the
// first MAC key, which rotations keep. So a used token differs from an invented one as long as the line lives,
// and a repeated request gets the same response. The database alone cannot forge one.
func (k *Keyring) RefreshToken(line [16]byte, generation uint32, salt []byte) (Bearer, error) {
	first, err := k.changedMAC(k.version, func(m *keyset.Manager) error { return m.SetPrimary(uint32(k.MACKeys()[0])) })
	if err != nil {
		return Bearer{}, err
	}
	said := binary.BigEndian.AppendUint32(nil, generation)
	mac, err := first.MAC(RefreshBearer.macPurpose(), joinParts(string(line[:]), string(said), string(salt)))
	if err != nil {
		return Bearer{}, err
	}
	sum := sha256.Sum256(mac)
	return Bearer{Kind: RefreshBearer, ID: line, secret: append(said, sum[:bearerSecretSize-generationSize]...)}, nil
}

// Generation returns the generation of a refresh token; ok is false for one that was never issued.
func (k *Keyring) Generation(b Bearer, salt []byte) (generation uint32, ok bool, err error) {
	if b.Kind != RefreshBearer || len(b.secret) != bearerSecretSize {
		return 0, false, nil
	}
	generation = binary.BigEndian.Uint32(b.secret)
	real, err := k.RefreshToken(b.ID, generation, salt)
	if err != nil {
		return 0, false, err
	}
	return generation, subtle.ConstantTimeCompare(real.secret, b.secret) == 1, nil
}
