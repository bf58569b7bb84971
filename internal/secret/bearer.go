package secret

import (
	"crypto/rand"
	"encoding/base32"
	"fmt"
	"hash/crc32"
	"strings"
)

// BearerKind is a kind of bearer text, by its prefix.
type BearerKind string

// The kinds.
const (
	KeyBearer   BearerKind = "pb_key_"   // of an API key
	AgentBearer BearerKind = "pb_agent_" // of an agent's token

	MemberBearer BearerKind = "pb_member_" // access token of a client that acts as a member

	SCIMBearer BearerKind = "pb_scim_" // of a tenant's SCIM address

	CodeBearer    BearerKind = "pb_code_"    // an authorization code
	RefreshBearer BearerKind = "pb_refresh_" // a refresh token
)

// macPurpose binds MACs to a kind: a text of one never verifies as another's.
func (k BearerKind) macPurpose() string {
	switch k {
	case AgentBearer:
		return "agent_token"
	case MemberBearer:
		return "member token"
	case SCIMBearer:
		return "SCIM token"
	case CodeBearer:
		return "authorization code"
	case RefreshBearer:
		return "refresh token"
	default:
		return "api_key"
	}
}

const bearerSecretSize = 32 // bytes: 256 bits

// bearerEncoding has neither upper case nor the separator "_".
var bearerEncoding = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// Bearer is a parsed key or token, <kind><id>_<secret>_<checksum>. Scanners of leaked secrets find the prefix.
// The checksum refuses typing errors without a query. The id, which is no secret, finds the row.
type Bearer struct {
	Kind   BearerKind
	ID     [16]byte
	secret []byte
	bound  string // what its MAC also covers; empty: nothing
}

// NewBearer makes a new secret for a row's id.
func NewBearer(kind BearerKind, id [16]byte) Bearer {
	b := Bearer{Kind: kind, ID: id, secret: make([]byte, bearerSecretSize)}
	_, _ = rand.Read(b.secret) // never fails: crypto/rand aborts the program instead
	return b
}

// Bound returns the bearer with a MAC that also covers what it is bound to, such as its holder's key. A release that knows of no bound
// bearers refuses its text.
func (b Bearer) Bound(to string) Bearer {
	b.bound = to
	return b
}

// macInput returns the purpose and the content of the bearer's MAC.
func (b Bearer) macInput() (purpose string, content []byte) {
	if b.bound == "" {
		return b.Kind.macPurpose(), b.secret
	}
	return b.Kind.macPurpose() + " bound", joinParts(string(b.secret), b.bound)
}

// Prefix returns the part that may be shown.
func (b Bearer) Prefix() string { return string(b.Kind) + bearerEncoding.EncodeToString(b.ID[:]) }

// Text returns the whole text, to be shown once.
func (b Bearer) Text() Text {
	body := b.Prefix() + "_" + bearerEncoding.EncodeToString(b.secret)
	return Text(body + "_" + bearerSum(body))
}

// IsBearer reports whether a text starts like a kind, complete or not.
func IsBearer(kind BearerKind, text Text) bool { return strings.HasPrefix(string(text), string(kind)) }

// ParseBearer parses a complete text of a kind.
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

// SignBearer returns the MAC to store for a bearer's secret.
func (k *Keyring) SignBearer(b Bearer) ([]byte, error) { return k.MAC(b.macInput()) }

// VerifyBearer returns nil if mac is what SignBearer made. It compares in constant time.
func (k *Keyring) VerifyBearer(b Bearer, mac []byte) error {
	purpose, content := b.macInput()
	return k.VerifyMAC(purpose, content, mac)
}
