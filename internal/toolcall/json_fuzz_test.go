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

// FuzzCanonical: canonical JSON has the same value, and is equal for equal values.
func FuzzCanonical(f *testing.F) {
	for _, seed := range []string{
		`{"b":1.0,"a":[null,true,"\u00e4ä"]}`, `{"a":1,"a":2}`, `{"a":{"b":1,"\u0062":2}}`, `"\ud800"`, `"\ud83d\ude00"`, `"\\ud800"`, `"\ud83d\\ude00"`, "\"\xff\"", `[1e400, -0, 0.10]`, `{} {}`, ` {"<":">"} `, `{"a":`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		out := canonicalJSON(raw)
		if second := canonicalJSON(out); !bytes.Equal(second, out) {
			t.Errorf("%q is written as %q, and that as %q", raw, out, second)
		}
		if !json.Valid(raw) {
			return
		}
		if plain := isUnambiguous(t, raw); plain == isAmbiguous(raw) {
			t.Errorf("%q can be read in one way: %v", raw, plain)
		}
		if isAmbiguous(raw) && !bytes.Equal(out, raw) {
			t.Errorf("%q is written as %q", raw, out)
		}
		if diff := cmp.Diff(decodeJSON(t, raw), decodeJSON(t, out)); diff != "" {
			t.Errorf("%q is written as %q: %s", raw, out, diff)
		}
	})
}

// FuzzWithMember: setting a member changes nothing else.
func FuzzWithMember(f *testing.F) {
	for _, seed := range []string{
		`{"resultType":"inputRequired","requestState":"theirs","x":[1,2]}`, `{"a":{"requestState":1}}`, `{}`, ` { } `, `{"requestState":1,"requestState":{"a":2}}`, `{"request\u0053tate":"x"}`, `{"a":"{"}`,
	} {
		f.Add([]byte(seed), "ours")
	}
	f.Fuzz(func(t *testing.T, raw []byte, text string) {
		want, ok := decodeJSON(t, raw).(map[string]any)
		if !ok || !json.Valid(raw) || !utf8.ValidString(text) {
			return
		}
		value, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		out := withMember(raw, "requestState", value)
		want["requestState"] = text
		if diff := cmp.Diff(any(want), decodeJSON(t, out)); diff != "" || !json.Valid(out) {
			t.Errorf("%q became %q: %s", raw, out, diff)
		}
		if got, _ := findMember(out, "requestState"); !bytes.Equal(got, value) {
			t.Errorf("of %q, made of %q, the member is %q", out, raw, got)
		}
	})
}

// decodeJSON decodes with encoding/json, numbers as written.
func decodeJSON(t *testing.T, raw []byte) (v any) {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if dec.Decode(&v) != nil {
		return nil
	}
	return v
}

var (
	literals    = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	escapedFFFD = regexp.MustCompile(`(?i)\\ufffd`)
)

// isUnambiguous is another implementation of !isAmbiguous: no duplicate members, and no U+FFFD that was not
// written.
func isUnambiguous(t *testing.T, raw []byte) bool {
	t.Helper()
	for _, literal := range literals.FindAllString(string(raw), -1) {
		var text string
		if err := json.Unmarshal([]byte(literal), &text); err != nil {
			t.Fatalf("%q of %q: %v", literal, raw, err)
		}
		plain := strings.ReplaceAll(literal, `\\`, "")
		if strings.Count(text, "\ufffd") != strings.Count(plain, "\ufffd")+len(escapedFFFD.FindAllString(plain, -1)) {
			return false
		}
	}
	return hasUniqueNames(t, raw)
}

// hasUniqueNames reports whether no object at any depth repeats a member.
func hasUniqueNames(t *testing.T, raw json.RawMessage) bool {
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
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			t.Fatal(err)
		}
		if !hasUniqueNames(t, value) {
			return false
		}
	}
	return true
}
