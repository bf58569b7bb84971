package oauth

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
)

// NewState makes the state of one authorization: 256 random bits for the browser.
func NewState() Secret {
	bits := make([]byte, 32)
	_, _ = rand.Read(bits) // never fails
	return Secret(base64.RawURLEncoding.EncodeToString(bits))
}

// HashState is what is stored of a state and looked up at the callback: who reads the database can finish nobody's flow.
func HashState(state Secret) []byte {
	sum := sha256.Sum256([]byte(state.Reveal()))
	return sum[:]
}
