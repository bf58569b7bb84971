package jws

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"

	"github.com/go-jose/go-jose/v4"
	josejson "github.com/go-jose/go-jose/v4/json"
)

// ErrUnsafeKey means that a key is not public. The library computes with the members of a private key before it looks at their sizes, for
// minutes if they are long.
var ErrUnsafeKey = errors.New("jws: the key is private or a shared secret")

// maxModulus is the length of a modulus of maxRSABits in base64url, with a leading zero byte.
const maxModulus = (maxRSABits/8+1)*8/6 + 2

// unsafeMembers are those of private keys and shared secrets (RFC 7518 section 6).
var unsafeMembers = []string{"d", "p", "q", "dp", "dq", "qi", "oth", "k"}

// CheckKey fails if a key is not public, with ErrUnsafeKey, or is too long. It is to be called before a library parses the key.
func CheckKey(raw []byte) error {
	var members map[string]josejson.RawMessage
	if err := josejson.Unmarshal(raw, &members); err != nil {
		return err
	}
	for _, name := range unsafeMembers {
		if !isEmpty(members[name]) {
			return ErrUnsafeKey
		}
	}
	if len(members["n"]) > maxModulus+2 || len(members["e"]) > 16 { // with quotes
		return errors.New("jws: the key is too long")
	}
	return nil
}

// isEmpty reports whether a member is missing, null or an empty list, as some providers write all members of their keys.
func isEmpty(value josejson.RawMessage) bool {
	text := strings.TrimSpace(string(value))
	return text == "" || text == "null" || text == "[]"
}

// ParseKey parses a public key (RFC 7517 section 4). It fails with ErrUnsafeKey for one that is private.
func ParseKey(raw json.RawMessage) (key jose.JSONWebKey, err error) {
	if err := CheckKey(raw); err != nil {
		return key, err
	}
	return key, key.UnmarshalJSON(raw)
}

// Parse parses a JWS in compact form with an accepted algorithm. A key in its header is refused.
func Parse(text string) (*jose.JSONWebSignature, error) {
	if err := CheckHeader(text); err != nil {
		return nil, err
	}
	return parseOne(text)
}

// CheckHeader fails if the header of a compact JWS has a key. Libraries parse it before they look at anything else.
func CheckHeader(text string) error {
	key, err := headerKey(text)
	if err == nil && key != nil {
		err = ErrUnsafeKey
	}
	return err
}

// parseProven is Parse for a header with a key.
func parseProven(text string) (*jose.JSONWebSignature, error) {
	key, err := headerKey(text)
	if err == nil {
		err = CheckKey(key)
	}
	if err != nil {
		return nil, err
	}
	return parseOne(text)
}

func parseOne(text string) (*jose.JSONWebSignature, error) {
	signed, err := jose.ParseSignedCompact(text, SignatureAlgorithms)
	if err == nil && len(signed.Signatures) != 1 {
		err = errors.New("jws: not one signature")
	}
	return signed, err
}

// headerKey returns the key in the header of a compact JWS; nil: none.
func headerKey(text string) (josejson.RawMessage, error) {
	encoded, _, _ := strings.Cut(text, ".")
	plain, err := base64.RawURLEncoding.DecodeString(encoded)
	if err != nil || strings.ContainsAny(text, " \t\r\n") {
		return nil, errors.New("jws: the header is not base64url")
	}
	var header struct {
		Key josejson.RawMessage `json:"jwk"`
	}
	err = josejson.Unmarshal(plain, &header)
	if isEmpty(header.Key) {
		return nil, err
	}
	return header.Key, err
}
