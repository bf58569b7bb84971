package secret

import (
	"crypto/rand"
	"encoding/base32"
	"fmt"
	"hash/crc32"
	"strings"
)

// BearerKind is a kind of text that we make and that a caller shows at a door, by its prefix.
type BearerKind string

// The kinds.
const (
	KeyBearer   BearerKind = "pb_key_"   // of an API key
	AgentBearer BearerKind = "pb_agent_" // of an agent's token

	MemberBearer BearerKind = "pb_member_" // of a program's access token that acts as a member

	CodeBearer    BearerKind = "pb_code_"    // an authorization code
	RefreshBearer BearerKind = "pb_refresh_" // a refresh token
)

// purpose binds the stored HMACs to a kind: the text of one never verifies as another's.
func (k BearerKind) purpose() string {
	switch k {
	case AgentBearer:
		return "agent_token"
	case MemberBearer:
		return "member token"
	case CodeBearer:
		return "authorization code"
	case RefreshBearer:
		return "refresh token"
	default:
		return "api_key"
	}
}

const bearerSecretSize = 32 // bytes: 256 bits

// bearerEncoding has neither upper case nor an underscore, which separates the parts.
var bearerEncoding = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// Bearer is a key or a token taken apart. Its text is <kind><id>_<secret>_<checksum>: the prefix lets scanners of leaked secrets find
// it, the checksum refuses a typing error without a query, and the id, which is no secret, finds the row.
type Bearer struct {
	Kind   BearerKind
	ID     [16]byte
	secret []byte
}

// NewBearer makes a fresh secret for a row's id.
func NewBearer(kind BearerKind, id [16]byte) Bearer {
	b := Bearer{Kind: kind, ID: id, secret: make([]byte, bearerSecretSize)}
	_, _ = rand.Read(b.secret) // never fails: crypto/rand ends the program instead
	return b
}

// Prefix is what may be shown of it.
func (b Bearer) Prefix() string { return string(b.Kind) + bearerEncoding.EncodeToString(b.ID[:]) }

// Text is the whole of it, to be shown once.
func (b Bearer) Text() Text {
	body := b.Prefix() + "_" + bearerEncoding.EncodeToString(b.secret)
	return Text(body + "_" + bearerSum(body))
}

// IsBearer tells whether a text looks like one of a kind, whole or not.
func IsBearer(kind BearerKind, text Text) bool { return strings.HasPrefix(string(text), string(kind)) }

// ParseBearer takes a text apart; ok is false for anything but a whole one of that kind.
func ParseBearer(kind BearerKind, text Text) (b Bearer, ok bool) {
	rest, found := strings.CutPrefix(text.Reveal(), string(kind))
	id, rest, _ := strings.Cut(rest, "_")
	body, sum, _ := strings.Cut(rest, "_")
	if !found || bearerSum(string(kind)+id+"_"+body) != sum {
		return Bearer{}, false
	}
	b.Kind = kind
	decoded, err := bearerEncoding.DecodeString(id)
	if err != nil || copy(b.ID[:], decoded) != len(decoded) || len(decoded) != len(b.ID) {
		return Bearer{}, false
	}
	b.secret, err = bearerEncoding.DecodeString(body)
	return b, err == nil && len(b.secret) == bearerSecretSize
}

func bearerSum(body string) string { return fmt.Sprintf("%08x", crc32.ChecksumIEEE([]byte(body))) }

// SignBearer makes what is stored in place of a bearer's secret.
func (k *Keyring) SignBearer(b Bearer) ([]byte, error) { return k.MAC(b.Kind.purpose(), b.secret) }

// VerifyBearer tells, in constant time, whether mac is what SignBearer made; nil: it is.
func (k *Keyring) VerifyBearer(b Bearer, mac []byte) error {
	return k.VerifyMAC(b.Kind.purpose(), b.secret, mac)
}
