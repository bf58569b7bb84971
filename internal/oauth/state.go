package oauth

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
)

// NewState makes a state of 256 random bits.
func NewState() Secret {
	bits := make([]byte, 32)
	_, _ = rand.Read(bits) // never fails
	return Secret(base64.RawURLEncoding.EncodeToString(bits))
}

// HashState returns the stored form of a state: a reader of the database cannot finish a flow.
func HashState(state Secret) []byte {
	sum := sha256.Sum256([]byte(state.Reveal()))
	return sum[:]
}
