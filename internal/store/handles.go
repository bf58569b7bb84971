package store

import (
	"encoding/base64"
	"fmt"

	"patchbay/internal/secret"
)

// SealHandle encrypts a message into a handle of visible ASCII that its owner stores for us and cannot read or
// change. purpose and owner are authenticated.
func (s *Store) SealHandle(purpose, owner string, message []byte) (string, error) {
	sealed, err := s.keyring.current.Load().Seal(secret.Text(message), handleAD(purpose, owner))
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(sealed), nil
}

// OpenHandle opens a handle of the same purpose and owner, made by any process. Handles older than the last
// rotation but one are unknown. An unknown key does not reload the stored keys, because handles are untrusted
// input.
func (s *Store) OpenHandle(purpose, owner, handle string) ([]byte, error) {
	sealed, err := base64.RawURLEncoding.DecodeString(handle)
	if err != nil {
		return nil, fmt.Errorf("open a handle: %w", err)
	}
	have, place := s.keyring.current.Load(), handleAD(purpose, owner)
	plain, err := have.Open(sealed, place)
	if err != nil && have.previous != nil {
		plain, err = have.previous.Open(sealed, place)
	}
	return []byte(plain), err
}

func handleAD(purpose, owner string) secret.AD {
	return secret.AD{Table: "handle", Column: purpose, Row: owner}
}
