package jsonschema

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestQuotedStrings_AgreeWithEncodingJSON(t *testing.T) {
	t.Parallel()
	parts := []string{
		"plain", "a plain text of some length", "<a&b>", `"`, `\`, "/", "\x00", "\x01", "\b", "\f", "\n", "\r", "\t", "\x1f", "\x7f", "é", "語", "😀", "\u2028", "\u2029", "\xff", "\xc3", "\uFFFD",
		"\xed\xa0\x80", `\u00e9`, `\ud83d`, `\ude00`, `\uD83D\uDE00`, `\u0041`, `\u0000`, `\/`, `\b`, `\f`, `\n`, `\r`, `\t`, `\"`, `\\`,
	}
	random := rand.New(rand.NewPCG(1, 1))
	read := 0
	for range 20_000 {
		var b strings.Builder
		for range random.IntN(6) {
			b.WriteString(parts[random.IntN(len(parts))])
		}
		s := b.String()
		var want bytes.Buffer
		encoder := json.NewEncoder(&want)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(s); err != nil {
			t.Fatal(err)
		}
		if got := AppendQuoted(nil, s); string(got)+"\n" != want.String() {
			t.Errorf("%q is written as %s, want %s", s, got, want.String())
		}
		if got := AppendQuotedBytes(nil, []byte(s)); string(got)+"\n" != want.String() {
			t.Errorf("the bytes %q are written as %s, want %s", s, got, want.String())
		}
		raw := bytes.ToValidUTF8([]byte(`"`+s+`"`), []byte("?"))
		var text string
		if json.Unmarshal(raw, &text) != nil {
			continue
		}
		if got := Unquote(string(raw)); got != text {
			t.Errorf("%s is read as %q, want %q", raw, got, text)
		}
		read++
	}
	if read < 1_000 {
		t.Errorf("%d strings were read: the test tests little", read)
	}
}
