package oauth

import (
	"fmt"
	"io"
	"log/slog"
)

const redactedText = "[secret]"

// Secret is a token, code, verifier or client secret in memory. fmt, slog and encoding/json print [secret].
// Callers seal Reveal to store it.
type Secret string

// Reveal returns the secret itself.
func (s Secret) Reveal() string { return string(s) }

// String hides the secret.
func (s Secret) String() string { return redactedText }

// Format hides the secret from every verb of fmt.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redactedText) }

// LogValue hides the secret from slog.
func (s Secret) LogValue() slog.Value { return slog.StringValue(redactedText) }

// MarshalText hides the secret from encoders.
func (s Secret) MarshalText() ([]byte, error) { return []byte(redactedText), nil }
