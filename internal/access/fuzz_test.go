package access

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"patchbay/internal/fault"
)

// FuzzArguments holds what an agent sends against what a server wants: nothing passes that the library refuses, nor is anything refused that it lets
// pass, but where the text can be read in two ways, or is too much to look at. The refusal is a sentence.
func FuzzArguments(f *testing.F) {
	for _, seed := range [][2]string{
		{`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`, `{"a":"b"}`},
		{`{"type":"object","properties":{"a":{"type":"integer","minimum":1}},"additionalProperties":false}`, `{"a":1.0000000000000000001}`},
		{`{"properties":{"a":{"enum":["x",null]}}}`, `{"a":null,"b":null}`},
		{`{"anyOf":[{"required":["a"]},{"properties":{"b":{"$ref":"#/$defs/c"}}}],"$defs":{"c":{"const":1}}}`, `{"b":1.0,"b":2}`},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"items":[{"type":"string"}]}}}`, `{"a":["x",1e400]}`},
		{`{"allOf":[{"$ref":"#"}]}`, `{}`}, {`{"properties":{"a":{"pattern":"^(a+)+$","maxLength":3}}}`, `{"a":"aab"}`},
		{`{"unevaluatedProperties":false,"if":{"required":["a"]},"then":{"properties":{"a":{"type":"null"}}}}`, `{"a":null}`},
		{`true`, `[]`}, {`{`, `{"a":1}`}, {`{"type":["object","null"]}`, `null`}, {`{"multipleOf":0}`, ` `},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, text, raw string) {
		s := compile(json.RawMessage(text))
		err := s.check(json.RawMessage(raw))
		if err != nil && (!fault.Is(err, fault.Invalid) || !utf8.ValidString(err.Error()) || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%s\nrefuses %s as %q", text, raw, err)
		}
		if plain := strings.TrimSpace(raw); err == nil && plain != "" && (!json.Valid([]byte(plain)) || plain[0] != '{') {
			t.Errorf("%s\naccepts %s", text, raw)
		}
		if json.Valid([]byte(raw)) {
			if read := s.checkRead(bytes.TrimSpace([]byte(raw))); fmt.Sprint(read) != fmt.Sprint(err) {
				t.Errorf("%s\ncalls %s %v once it was read, and else %v", text, raw, read, err)
			}
		}
		value, ok := object(raw)
		if !ok || s.resolved == nil || repeats([]byte(raw)) || s.cost.tooMuch(value) {
			return
		}
		_, tired := s.judges(json.RawMessage(raw))
		fits := s.resolved.Validate(value) == nil
		switch without := given(value); {
		case fits && err != nil && !tired:
			t.Errorf("%s\nrefuses %s as %q", text, raw, err)
		case err == nil && !fits && s.resolved.Validate(without) != nil:
			t.Errorf("%s\naccepts %s", text, raw)
		}
	})
}

// object reads arguments as the library gets them; false: they are none, or a number in them is none.
func object(raw string) (map[string]any, bool) {
	if !json.Valid([]byte(raw)) {
		return nil, false
	}
	v, err := decoded([]byte(raw))
	value, ok := v.(map[string]any)
	return value, ok && err == nil
}

// given are the members that are not null.
func given(all map[string]any) map[string]any {
	some := map[string]any{}
	for name, v := range all {
		if v != nil {
			some[name] = v
		}
	}
	return some
}
