package wire_test

import (
	"testing"

	"patchbay/internal/mcp/wire"
)

func TestHeaderText(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"us-west1": "us-west1", "": "", "=?base64?SGVsbG8=?=": "Hello", "SGVsbG8=": "SGVsbG8=", "=?base64?SGVsbG8=": "=?base64?SGVsbG8=",
		"=?BASE64?SGVsbG8=?=": "=?BASE64?SGVsbG8=?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=": "=?base64?literal?=", "a\tb": "a\tb",
	} {
		if have, ok := wire.HeaderText(value); have != want || !ok {
			t.Errorf("%q is %q, %v", value, have, ok)
		}
	}
	for _, value := range []string{"=?base64?SGVsbG8?=", "=?base64?SGVs!!!bG8=?=", "=?base64?SGVsbG9=?=", "größe", "a\x00", "a\x7f"} {
		if have, ok := wire.HeaderText(value); ok {
			t.Errorf("%q was read as %q", value, have)
		}
	}
}
