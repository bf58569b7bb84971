package secret

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
)

// redactedText is printed instead of a Text.
const redactedText = "[secret]"

// Text is a secret in memory. fmt, slog and encoding/json print [secret]; only Reveal returns it. fmt ignores
// the methods of a Text in an unexported field, so do not print such a struct whole.
type Text string

// Reveal returns the secret itself.
func (t Text) Reveal() string { return string(t) }

// Empty reports whether there is no secret.
func (t Text) Empty() bool { return t == "" }

// String hides the secret.
func (t Text) String() string { return redactedText }

// GoString hides the secret from %#v.
func (t Text) GoString() string { return redactedText }

// Format hides the secret from every verb, %x and %q among them.
func (t Text) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, redactedText) }

// LogValue hides the secret from slog.
func (t Text) LogValue() slog.Value { return slog.StringValue(redactedText) }

// MarshalJSON hides the secret: a secret is write-only.
func (t Text) MarshalJSON() ([]byte, error) { return json.Marshal(redactedText) }

// MarshalText hides the secret from encoders that know no JSON.
func (t Text) MarshalText() ([]byte, error) { return []byte(redactedText), nil }

// UnmarshalJSON reads a secret from a JSON string.
func (t *Text) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return fmt.Errorf("read a secret: not a JSON string")
	}
	*t = Text(s)
	return nil
}

// UnmarshalText reads a secret, so that flags and the environment may hold one.
func (t *Text) UnmarshalText(b []byte) error {
	*t = Text(b)
	return nil
}
