package secret

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
)

// hidden is what every printer shows of a Text.
const hidden = "[secret]"

// Text is a secret in memory. fmt, slog and encoding/json show [secret] in its place; only Reveal gives it away. One
// gap is Go's own: fmt cannot ask a Text in an unexported field of a struct, so a struct that holds one there is not printed whole.
type Text string

// Reveal returns the secret itself.
func (t Text) Reveal() string { return string(t) }

// Empty tells whether there is no secret.
func (t Text) Empty() bool { return t == "" }

// String hides the secret.
func (t Text) String() string { return hidden }

// GoString hides the secret from %#v.
func (t Text) GoString() string { return hidden }

// Format hides the secret from every verb, %x and %q among them.
func (t Text) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, hidden) }

// LogValue hides the secret from slog.
func (t Text) LogValue() slog.Value { return slog.StringValue(hidden) }

// MarshalJSON hides the secret: a secret is write-only.
func (t Text) MarshalJSON() ([]byte, error) { return json.Marshal(hidden) }

// MarshalText hides the secret from encoders that know no JSON.
func (t Text) MarshalText() ([]byte, error) { return []byte(hidden), nil }

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
