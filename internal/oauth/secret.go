package oauth

import (
	"fmt"
	"io"
	"log/slog"
)

const hidden = "[secret]"

// Secret is a token, code, verifier or client secret in memory. fmt, slog and encoding/json show [secret] in its place:
// what is to be stored has to be sealed by the caller, out of Reveal.
type Secret string

// Reveal returns the secret itself.
func (s Secret) Reveal() string { return string(s) }

// String hides the secret.
func (s Secret) String() string { return hidden }

// Format hides the secret from every verb of fmt.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, hidden) }

// LogValue hides the secret from slog.
func (s Secret) LogValue() slog.Value { return slog.StringValue(hidden) }

// MarshalText hides the secret from encoders.
func (s Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }
