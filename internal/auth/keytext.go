package auth

import (
	"crypto/rand"
	"encoding/base32"
	"fmt"
	"hash/crc32"
	"strings"

	"github.com/google/uuid"

	"patchbay/internal/connectors"
	"patchbay/internal/secret"
)

// The text of an API key: pb_key_<id>_<secret>_<checksum>. The prefix lets scanners of leaked secrets find it, the
// checksum refuses a typing error without a query, and the id, which is no secret, finds the row.
const (
	keyPrefix   = "pb_key_"
	agentPrefix = "pb_agent_"

	keySecretSize = 32 // bytes: 256 bits
)

// keyEncoding has neither upper case nor an underscore, which separates the parts.
var keyEncoding = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// keyText is an API key taken apart.
type keyText struct {
	id     connectors.APIKeyID
	secret []byte
}

func newKeyText(id connectors.APIKeyID) keyText {
	k := keyText{id: id, secret: make([]byte, keySecretSize)}
	_, _ = rand.Read(k.secret) // never fails: crypto/rand ends the program instead
	return k
}

// prefix is what may be shown of a key.
func (k keyText) prefix() string { return keyPrefix + keyEncoding.EncodeToString(k.id.UUID[:]) }

func (k keyText) text() secret.Text {
	body := k.prefix() + "_" + keyEncoding.EncodeToString(k.secret)
	return secret.Text(body + "_" + checksum(body))
}

// parseKey takes a key apart; ok is false for anything but a whole key.
func parseKey(text secret.Text) (k keyText, ok bool) {
	rest, found := strings.CutPrefix(text.Reveal(), keyPrefix)
	parts := strings.Split(rest, "_")
	if !found || len(parts) != 3 || checksum(keyPrefix+parts[0]+"_"+parts[1]) != parts[2] {
		return keyText{}, false
	}
	id, err := keyEncoding.DecodeString(parts[0])
	if err != nil || len(id) != len(uuid.UUID{}) {
		return keyText{}, false
	}
	k.id = connectors.APIKeyID{UUID: uuid.UUID(id)}
	k.secret, err = keyEncoding.DecodeString(parts[1])
	return k, err == nil && len(k.secret) == keySecretSize
}

func checksum(body string) string { return fmt.Sprintf("%08x", crc32.ChecksumIEEE([]byte(body))) }
