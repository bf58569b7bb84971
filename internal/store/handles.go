package store

import (
	"encoding/base64"
	"fmt"

	"patchbay/internal/secret"
)

// SealHandle makes a handle of a message: text that its owner carries for us, and can neither read nor change. purpose and owner are
// part of the seal. It is visible ASCII.
func (s *Store) SealHandle(purpose, owner string, message []byte) (string, error) {
	sealed, err := s.keyring.now.Load().Seal(secret.Text(message), handlePlace(purpose, owner))
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(sealed), nil
}

// OpenHandle reads what SealHandle made for the same purpose and owner, in any process. A handle from before the last rotation but
// one is unknown. The stored keys are not read again for an unknown one: anybody can send such.
func (s *Store) OpenHandle(purpose, owner, handle string) ([]byte, error) {
	sealed, err := base64.RawURLEncoding.DecodeString(handle)
	if err != nil {
		return nil, fmt.Errorf("open a handle: %w", err)
	}
	have, place := s.keyring.now.Load(), handlePlace(purpose, owner)
	plain, err := have.Open(sealed, place)
	if err != nil && have.before != nil {
		plain, err = have.before.Open(sealed, place)
	}
	return []byte(plain), err
}

func handlePlace(purpose, owner string) secret.AD {
	return secret.AD{Table: "handle", Column: purpose, Row: owner}
}
