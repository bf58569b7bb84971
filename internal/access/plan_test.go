package access

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

// maker makes schemas and values out of few words, so that they often fit.
type maker struct {
	*rand.Rand
	odd bool // with keywords that a plan does not know
}

func (m maker) one(of ...string) string { return of[m.IntN(len(of))] }

func (m maker) schema(depth int) string {
	var words []string
	add := func(format string, args ...any) { words = append(words, fmt.Sprintf(format, args...)) }
	for range 1 + m.IntN(3) {
		most := 14
		if m.odd {
			most = 18
		}
		switch n := m.IntN(most); {
		case n == 0:
			add(`"type":%s`, m.one(`"object"`, `"array"`, `"string"`, `"integer"`, `"number"`, `"boolean"`, `"null"`, `["string","null"]`, `["integer","array"]`))
		case n == 1:
			add(`"enum":%s`, m.one(`["a","b"]`, `[1,2.5,"a"]`, `[true,null]`, `[]`))
		case n == 2:
			add(`"const":%s`, m.one(`"a"`, `1`, `null`, `false`))
		case n == 3:
			add(`"%s":%d`, m.one("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), m.IntN(4))
		case n == 4:
			add(`"%s":%d`, m.one("minLength", "maxLength", "minItems", "maxItems"), m.IntN(3))
		case n == 5:
			add(`"pattern":%s`, m.one(`"^a"`, `"b+$"`, `"é"`))
		case n == 6 && depth > 0:
			add(`"items":%s`, m.schema(depth-1))
		case n == 7:
			add(`"required":%s`, m.one(`["a"]`, `["a","b"]`, `["c"]`, `[]`))
		case n == 8 && depth > 0:
			add(`"additionalProperties":%s`, m.one("false", "true", m.schema(depth-1)))
		case n == 9 && depth > 0:
			add(`"anyOf":[%s,%s]`, m.schema(depth-1), m.schema(depth-1))
		case n == 10 && depth > 0:
			add(`"allOf":[%s]`, m.schema(depth-1))
		case n == 11:
			add(`"$ref":"#/$defs/d"`)
		case m.odd && n == 12 && depth > 0:
			add(`"%s":[%s,%s]`, m.one("oneOf", "prefixItems"), m.schema(depth-1), m.schema(depth-1))
		case m.odd && n == 13 && depth > 0:
			add(`"%s":%s`, m.one("not", "if", "contains", "propertyNames", "unevaluatedProperties", "unevaluatedItems"), m.schema(depth-1))
		case m.odd && n == 14 && depth > 0:
			add(`"patternProperties":{"^[ac]":%s}`, m.schema(depth-1))
		case m.odd && n == 15:
			add("%s", m.one(`"uniqueItems":true`, `"multipleOf":2`, `"minProperties":1`, `"dependentRequired":{"a":["b"]}`, `"const":{"a":1}`, `"enum":[[1],"a"]`))
		case depth > 0:
			add(`"properties":{"a":%s,"b":%s}`, m.schema(depth-1), m.schema(depth-1))
		}
	}
	return "{" + strings.Join(unlike(words), ",") + "}"
}

// unlike leaves one of each keyword.
func unlike(words []string) []string {
	var out []string
	seen := map[string]bool{}
	for _, w := range words {
		name, _, _ := strings.Cut(w, ":")
		if !seen[name] {
			seen[name] = true
			out = append(out, w)
		}
	}
	return out
}

func (m maker) value(depth int) string {
	space := m.one("", "", " ", "\n\t")
	switch n := m.IntN(8); {
	case n < 3 && depth > 0:
		var members []string
		for _, name := range []string{`"a"`, `"\u0062"`, `"c"`} {
			if m.IntN(2) == 0 {
				members = append(members, name+space+":"+m.value(depth-1))
			}
		}
		return "{" + space + strings.Join(members, ",") + space + "}"
	case n == 3 && depth > 0:
		var items []string
		for range m.IntN(3) {
			items = append(items, m.value(depth-1))
		}
		return "[" + strings.Join(items, space+",") + space + "]"
	default:
		return space + m.one(`"a"`, `"ab"`, `"\u00e9"`, `"é\""`, `""`, `1`, `-2`, `2.5`, `1e2`, `1.0`, `true`, `false`, `null`, `"]}"`)
	}
}

// The library is the judge: a plan must agree with it on every schema that it takes on.
func TestAPlanJudgesAsTheLibraryDoes(t *testing.T) {
	t.Parallel()
	m := maker{Rand: rand.New(rand.NewPCG(1, 2))}
	planned, accepted := 0, 0
	for range 20_000 {
		text := strings.TrimSuffix(m.schema(3), "}")
		if text != "{" {
			text += ","
		}
		text += m.one("", "", `"$schema":"http://json-schema.org/draft-07/schema#",`) + `"$defs":{"d":` + m.schema(1) + `}}`
		var root jsonschema.Schema
		if err := json.Unmarshal([]byte(text), &root); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if costOf(&root).endless {
			continue
		}
		resolved, err := root.Resolve(nil)
		p := planOf(&root)
		if err != nil || p == nil {
			continue
		}
		planned++
		for range 5 {
			raw := m.value(4)
			var value any
			if err := json.Unmarshal([]byte(raw), &value); err != nil {
				t.Fatalf("%s: %v", raw, err)
			}
			want := resolved.Validate(value)
			if want == nil {
				accepted++
			}
			if said := explain(&root, value); want == nil && said != "" {
				t.Fatalf("%s\n%s\nfits, and it is said: %s", text, raw, said)
			}
			if got, _ := p.judge([]byte(raw)); got != (want == nil) {
				t.Fatalf("%s\n%s\nthe plan: %v; the library: %v", text, raw, got, want)
			}
		}
	}
	if planned < 10_000 || accepted < planned {
		t.Errorf("%d schemas had a plan, %d values fitted: the test tests little", planned, accepted)
	}
}

// What is cheap to check may let more through than the library, and never less.
func TestTheCheapPartOfASchemaRefusesNothingThatFits(t *testing.T) {
	t.Parallel()
	m := maker{rand.New(rand.NewPCG(3, 4)), true}
	fitted, refused := 0, 0
	for range 20_000 {
		text := strings.TrimSuffix(m.schema(3), "}")
		if text != "{" {
			text += ","
		}
		text += m.one("", "", `"$schema":"http://json-schema.org/draft-07/schema#",`) + `"$defs":{"d":` + m.schema(1) + `}}`
		var root jsonschema.Schema
		if err := json.Unmarshal([]byte(text), &root); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		cheap := cheapOf(&root)
		if cheap == nil && (root.Ref == "" || !isDraft7(root.Schema)) {
			t.Fatalf("%s has no cheap part", text)
		}
		resolved, err := root.Resolve(nil)
		if err != nil || costOf(&root).endless {
			continue
		}
		for range 5 {
			raw := m.value(4)
			var value any
			if err := json.Unmarshal([]byte(raw), &value); err != nil {
				t.Fatalf("%s: %v", raw, err)
			}
			fits := resolved.Validate(value) == nil
			accepts, _ := cheap.judge([]byte(raw))
			if fits && !accepts {
				t.Fatalf("%s\n%s\nfits, and the cheap part refuses it", text, raw)
			}
			if fits {
				fitted++
			} else if !accepts {
				refused++
			}
		}
	}
	if fitted < 10_000 || refused < 10_000 {
		t.Errorf("%d values fitted, %d were refused: the test tests little", fitted, refused)
	}
}

func accepts(s *schema, raw string) bool {
	yes, _ := s.judges(json.RawMessage(raw))
	return yes
}

func FuzzAPlanAcceptsNothingElse(f *testing.F) {
	f.Add(`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`, `{"a":"b"}`)
	f.Add(`{"anyOf":[{"type":"null"},{"items":{"$ref":"#"}}]}`, `[[null]]`)
	f.Fuzz(func(t *testing.T, text, raw string) {
		s := compile(json.RawMessage(text))
		if s.plan == nil || !json.Valid([]byte(raw)) || !accepts(s, raw) {
			return
		}
		var value any
		if json.Unmarshal([]byte(raw), &value) != nil || s.cost.tooMuch(value) || s.resolved.Validate(value) == nil {
			return
		}
		if again, err := json.Marshal(value); err == nil && accepts(s, string(again)) {
			t.Errorf("%s\naccepts %s", text, raw)
		} // else a member was given twice, and both had to fit or one was dropped
	})
}
