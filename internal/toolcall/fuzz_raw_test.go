package toolcall

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// FuzzCanonical: a call goes on, or was approved, with arguments that say the same; what is written the same way says the same to every reader.
func FuzzCanonical(f *testing.F) {
	for _, seed := range []string{
		`{"b":1.0,"a":[null,true,"\u00e4ä"]}`, `{"a":1,"a":2}`, `{"a":{"b":1,"\u0062":2}}`, `"\ud800"`, `"\ud83d\ude00"`, `"\\ud800"`, `"\ud83d\\ude00"`, "\"\xff\"", `[1e400, -0, 0.10]`, `{} {}`, ` {"<":">"} `, `{"a":`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		out := canonical(raw)
		if again := canonical(out); !bytes.Equal(again, out) {
			t.Errorf("%q is written as %q, and that as %q", raw, out, again)
		}
		if !json.Valid(raw) {
			return
		}
		if plain := saidOnce(t, raw); plain == ambiguous(raw) {
			t.Errorf("%q can be read in one way: %v", raw, plain)
		}
		if ambiguous(raw) && !bytes.Equal(out, raw) {
			t.Errorf("%q is written as %q", raw, out)
		}
		if diff := cmp.Diff(valueOf(t, raw), valueOf(t, out)); diff != "" {
			t.Errorf("%q is written as %q: %s", raw, out, diff)
		}
	})
}

// FuzzWithMember: a member of what a server answered is put in another's place, and nothing else changes.
func FuzzWithMember(f *testing.F) {
	for _, seed := range []string{
		`{"resultType":"inputRequired","requestState":"theirs","x":[1,2]}`, `{"a":{"requestState":1}}`, `{}`, ` { } `, `{"requestState":1,"requestState":{"a":2}}`, `{"request\u0053tate":"x"}`, `{"a":"{"}`,
	} {
		f.Add([]byte(seed), "ours")
	}
	f.Fuzz(func(t *testing.T, raw []byte, text string) {
		want, ok := valueOf(t, raw).(map[string]any)
		if !ok || !json.Valid(raw) || !utf8.ValidString(text) {
			return
		}
		value, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		out := withMember(raw, "requestState", value)
		want["requestState"] = text
		if diff := cmp.Diff(any(want), valueOf(t, out)); diff != "" || !json.Valid(out) {
			t.Errorf("%q became %q: %s", raw, out, diff)
		}
		if got, _ := member(out, "requestState"); !bytes.Equal(got, value) {
			t.Errorf("of %q, made of %q, the member is %q", out, raw, got)
		}
	})
}

// valueOf is what encoding/json makes of a text, with its numbers as they are written.
func valueOf(t *testing.T, raw []byte) (v any) {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if dec.Decode(&v) != nil {
		return nil
	}
	return v
}

var (
	literals = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	written  = regexp.MustCompile(`(?i)\\ufffd`)
)

// saidOnce tells in another way whether a JSON text can be read in one way: no member is there twice, and no string has a character that is
// none, which shows by a U+FFFD that nobody wrote.
func saidOnce(t *testing.T, raw []byte) bool {
	t.Helper()
	for _, literal := range literals.FindAllString(string(raw), -1) {
		var text string
		if err := json.Unmarshal([]byte(literal), &text); err != nil {
			t.Fatalf("%q of %q: %v", literal, raw, err)
		}
		plain := strings.ReplaceAll(literal, `\\`, "")
		if strings.Count(text, "\ufffd") != strings.Count(plain, "\ufffd")+len(written.FindAllString(plain, -1)) {
			return false
		}
	}
	return once(t, raw)
}

// once tells whether no object at any depth has a member twice: it has as many as stand in it.
func once(t *testing.T, raw json.RawMessage) bool {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(raw))
	opened, err := dec.Token()
	if err != nil || opened != json.Delim('{') && opened != json.Delim('[') {
		return true
	}
	names := map[string]bool{}
	for n := 0; dec.More(); n++ {
		if opened == json.Delim('{') {
			name, err := dec.Token()
			if err != nil {
				t.Fatal(err)
			}
			names[name.(string)] = true
			if len(names) != n+1 {
				return false
			}
		}
		var inside json.RawMessage
		if err := dec.Decode(&inside); err != nil {
			t.Fatal(err)
		}
		if !once(t, inside) {
			return false
		}
	}
	return true
}
