package agentview

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"patchbay/internal/fault"
)

// FuzzArguments compares validation with jsonschema-go for every schema that is checked completely, unless the
// text is ambiguous. An error is one sentence.
func FuzzArguments(f *testing.F) {
	for _, seed := range [][2]string{
		{`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`, `{"a":"b"}`},
		{`{"type":"object","properties":{"a":{"type":"integer","minimum":1}},"additionalProperties":false}`, `{"a":1.0000000000000000001}`},
		{`{"properties":{"a":{"enum":["x",null]}}}`, `{"a":null,"b":null}`},
		{`{"anyOf":[{"required":["a"]},{"properties":{"b":{"$ref":"#/$defs/c"}}}],"$defs":{"c":{"const":1}}}`, `{"b":1.0,"b":2}`},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"items":[{"type":"string"}]}}}`, `{"a":["x",1e400]}`},
		{`{"allOf":[{"$ref":"#"}]}`, `{}`}, {`{"properties":{"a":{"pattern":"^(a+)+$","maxLength":3}}}`, `{"a":"aab"}`},
		{`{"unevaluatedProperties":false,"if":{"required":["a"]},"then":{"properties":{"a":{"type":"null"}}}}`, `{"a":null}`},
		{`{"properties":{"a":{"uniqueItems":true,"contains":{"const":{"x":[1]}}}}}`, `{"a":[{"x":[1.0]},{"\u0078":[1]}]}`},
		{`{"patternProperties":{"^a":{"oneOf":[{"minimum":1},{"multipleOf":2}]}},"propertyNames":{"maxLength":2}}`, `{"ab":2}`},
		{`true`, `[]`}, {`{`, `{"a":1}`}, {`{"type":["object","null"]}`, `null`}, {`{"multipleOf":0}`, ` `},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, text, raw string) {
		s := compileSchema(json.RawMessage(text))
		err := s.check(t.Context(), json.RawMessage(raw))
		if err != nil && (!fault.Is(err, fault.Invalid) || !utf8.ValidString(err.Error()) || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%s\nrefuses %s as %q", text, raw, err)
		}
		if plain := strings.TrimSpace(raw); err == nil && plain != "" && (!json.Valid([]byte(plain)) || plain[0] != '{') {
			t.Errorf("%s\naccepts %s", text, raw)
		}
		if json.Valid([]byte(raw)) {
			if read := s.checkRead(t.Context(), bytes.TrimSpace([]byte(raw))); fmt.Sprint(read) != fmt.Sprint(err) {
				t.Errorf("%s\ncalls %s %v once it was read, and else %v", text, raw, read, err)
			}
		}
		compareWithLibrary(t, s, text, raw)
	})
}

// compareWithLibrary compares the result for unambiguous arguments with that of jsonschema-go.
func compareWithLibrary(t *testing.T, s *compiledSchema, text, raw string) {
	if len(text)+len(raw) > 2000 || strings.Contains(raw, `\`) || !utf8.ValidString(raw) { // too slow for the library
		return
	}
	value, ok := decodeObject(raw)
	var root jsonschema.Schema
	if !ok || len(s.unchecked) > 0 || json.Unmarshal([]byte(text), &root) != nil || !sameNames(text) {
		return
	}
	resolved, err := root.Resolve(nil)
	if err != nil {
		return
	}
	v, err := s.validate(t.Context(), json.RawMessage(strings.TrimSpace(raw)))
	if v == undecided || err != nil && strings.Contains(err.Error(), "Duplicate key in the arguments.") {
		return
	}
	fits := resolved.Validate(value) == nil || resolved.Validate(dropNulls(value)) == nil
	if fits != (err == nil) {
		t.Errorf("%s\n%s\nfits: %v, and we say %v", text, raw, fits, err)
	}
}

// sameNames reports whether encoding/json reads a schema's keywords as the compiler does. It ignores their
// case, and the library the order of some.
func sameNames(text string) bool {
	var all any
	if json.Unmarshal([]byte(text), &all) != nil {
		return false
	}
	r := newValidator(noContext, []byte(text))
	if r.findDuplicateMembers() != invalid {
		return false
	}
	fine := true
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for name, sub := range v {
				_, known := keywordsByName[strings.ToLower(name)]
				_, exact := keywordsByName[name]
				fine = fine && (known == exact || !known)
				fine = fine && name != "$anchor" && name != "$dynamicAnchor" && name != "$id" && sub != nil
				walk(sub)
			}
		case []any:
			for _, item := range v {
				walk(item)
			}
		}
	}
	walk(all)
	return fine
}

// decodeObject decodes arguments for the library; false: no object, or an invalid number.
func decodeObject(raw string) (map[string]any, bool) {
	if !json.Valid([]byte(raw)) {
		return nil, false
	}
	v, err := decodeJSON([]byte(raw))
	value, ok := v.(map[string]any)
	return value, ok && err == nil
}

// decodeJSON decodes a JSON text, with each number as in [parseNumber].
func decodeJSON(text []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var value any
	if err := dec.Decode(&value); err != nil {
		return nil, err
	}
	return withNumbers(value)
}

// withNumbers replaces number texts by their values.
func withNumbers(value any) (_ any, err error) {
	switch v := value.(type) {
	case json.Number:
		return parseNumber([]byte(v))
	case map[string]any:
		for name, member := range v {
			if v[name], err = withNumbers(member); err != nil {
				return nil, err
			}
		}
	case []any:
		for i, item := range v {
			if v[i], err = withNumbers(item); err != nil {
				return nil, err
			}
		}
	}
	return value, nil
}

// dropNulls returns the members that are not null.
func dropNulls(all map[string]any) map[string]any {
	some := map[string]any{}
	for name, v := range all {
		if v != nil {
			some[name] = v
		}
	}
	return some
}

var noContext = context.Background()
