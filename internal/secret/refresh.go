package secret

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"

	"github.com/tink-crypto/tink-go/v2/keyset"
)

// generationSize is how many bytes of a refresh token's secret say which of its line it is; the others, 224 bits, authenticate that.
const generationSize = 4

// RefreshToken is the token of a generation in a line of refresh tokens. It is made of the line's id and salt by the first key that authenticates
// tokens, which a rotation leaves, so that each of a line can be told from an invented one for as long as the line lasts, and that the same request has the same answer
// again; who has the database without the key can make none.
func (k *Keyring) RefreshToken(line [16]byte, generation uint32, salt []byte) (Bearer, error) {
	first, err := k.changedMAC(k.version, func(m *keyset.Manager) error { return m.SetPrimary(uint32(k.MACKeys()[0])) })
	if err != nil {
		return Bearer{}, err
	}
	said := binary.BigEndian.AppendUint32(nil, generation)
	mac, err := first.MAC(RefreshBearer.purpose(), joined(string(line[:]), string(said), string(salt)))
	if err != nil {
		return Bearer{}, err
	}
	sum := sha256.Sum256(mac)
	return Bearer{Kind: RefreshBearer, ID: line, secret: append(said, sum[:bearerSecretSize-generationSize]...)}, nil
}

// Generation is which of its line a refresh token is; ok is false for one that was never given out.
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
