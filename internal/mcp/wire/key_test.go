package wire_test

import (
	"encoding/json"
	"testing"

	"patchbay/internal/mcp/wire"
)

// TestMembers_KeysAreUnquotedLikeEncodingJSON compares keys with escapes.
func TestMembers_KeysAreUnquotedLikeEncodingJSON(t *testing.T) {
	t.Parallel()
	for _, key := range []string{
		`a`, `\u0061b`, `\"\\\/\b\f\n\r\t`, `\u00e9é\u2028`, `\ud83d\ude00`, `\uD83D\uDE00x`, `\ud83d`, `\ud83dx`, `\ud83d\n`, `\ud83d\u0061`, `\ude00\ud83d`,
		`\ud83d\ud83d\ude00`, `\u0000`, `x\ud83d\\u0061`, `\ufffd`, ``,
	} {
		var want string
		if err := json.Unmarshal([]byte(`"`+key+`"`), &want); err != nil {
			t.Fatalf("%s: %v", key, err)
		}
		members, ok := wire.Members([]byte(`{"` + key + `":1}`))
		if !ok || len(members) != 1 || members[0].Name != want {
			t.Errorf("%s is read as %q, want %q", key, members, want)
		}
	}
}
