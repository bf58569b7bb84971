package secret

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"patchbay/internal/fault"
)

// kekSize is the length of a key-encryption key in bytes: AES-256.
const kekSize = 32

const kekIDSize = 8 // bytes

// KEK is the key-encryption key, the value of PATCHBAY_KEYSET. It wraps only a Keyring. The zero KEK is not
// set. It prints as [secret].
type KEK struct {
	// A pointer: fmt prints an unexported field without its methods, so an array would print its bytes.
	key *[kekSize]byte
}

// NewKEK makes a random KEK.
func NewKEK() (KEK, error) {
	k := KEK{key: new([kekSize]byte)}
	if _, err := rand.Read(k.key[:]); err != nil {
		return KEK{}, fmt.Errorf("make a key: %w", err)
	}
	return k, nil
}

// ParseKEK parses 32 bytes in base64, or "file:PATH" of a file with them. The fault never quotes the input.
func ParseKEK(s string) (KEK, error) {
	s = strings.TrimSpace(s)
	if path, ok := strings.CutPrefix(s, "file:"); ok {
		b, err := readKeyFile(path)
		if err != nil {
			return KEK{}, fault.Wrap(fault.Invalid, err, fmt.Sprintf("The PATCHBAY_KEYSET file %s can't be read. Check its path and permissions.", path))
		}
		s = strings.TrimSpace(b)
	}
	return DecodeKEK(Text(s))
}

// DecodeKEK decodes 32 bytes in base64. The fault never quotes them.
func DecodeKEK(text Text) (KEK, error) {
	raw, err := decodeBase64(strings.TrimSpace(text.Reveal()))
	if err != nil || len(raw) != kekSize {
		return KEK{}, fault.Errorf(fault.Invalid, "PATCHBAY_KEYSET must be 32 random bytes in base64, a file:PATH that holds them, or a KMS URI.")
	}
	return KEK{key: (*[kekSize]byte)(raw)}, nil
}

// Encode returns the KEK for ParseKEK; empty if not set.
func (k KEK) Encode() string {
	if k.IsZero() {
		return ""
	}
	return base64.StdEncoding.EncodeToString(k.key[:])
}

// ID identifies the KEK without revealing it; nil if not set.
func (k KEK) ID() []byte {
	if k.IsZero() {
		return nil
	}
	mac := hmac.New(sha256.New, k.key[:])
	mac.Write([]byte("patchbay key-encryption key id"))
	return mac.Sum(nil)[:kekIDSize]
}

// IsZero reports whether no key is set.
func (k KEK) IsZero() bool { return k.key == nil }

// String hides the key.
func (k KEK) String() string { return redactedText }

// GoString hides the key from %#v.
func (k KEK) GoString() string { return redactedText }

// Format hides the key from every verb.
func (k KEK) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, redactedText) }

// LogValue hides the key from slog.
func (k KEK) LogValue() slog.Value { return slog.StringValue(redactedText) }

// readKeyFile reads a few hundred bytes at most: a mistaken path may be any file.
func readKeyFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	b, err := io.ReadAll(io.LimitReader(f, 512))
	return string(b), err
}

// decodeBase64 accepts both alphabets, padded or not.
func decodeBase64(s string) ([]byte, error) {
	s = strings.TrimRight(s, "=")
	s = strings.NewReplacer("-", "+", "_", "/").Replace(s)
	return base64.RawStdEncoding.DecodeString(s)
}
