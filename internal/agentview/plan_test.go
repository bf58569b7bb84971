//go:build !race

// The race detector finds nothing in these computations and takes ten times as long.

package agentview

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

// maker generates schemas and values from few words, so that they often match.
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
			most = 20
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
			add("%s", m.one(`"uniqueItems":true`, `"multipleOf":2`, `"minProperties":1`, `"maxProperties":1`, `"dependentRequired":{"a":["b"]}`,
				`"dependencies":{"a":["b"]}`, `"const":{"a":1}`, `"enum":[[1],"a"]`, `"minContains":0`, `"maxContains":1`, `"items":[{"type":"string"},false]`))
		case m.odd && n == 16 && depth > 0:
			add(`"%s":{"a":%s}`, m.one("dependentSchemas", "dependencies"), m.schema(depth-1))
		case m.odd && n == 17 && depth > 0:
			add(`"%s":%s`, m.one("then", "else", "additionalItems", "unevaluatedProperties", "unevaluatedItems"), m.one("false", "true", m.schema(depth-1)))
		case depth > 0:
			add(`"properties":{"a":%s,"b":%s}`, m.schema(depth-1), m.schema(depth-1))
		}
	}
	return "{" + strings.Join(oneOfEach(words), ",") + "}"
}

// oneOfEach keeps one of each keyword.
func oneOfEach(words []string) []string {
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

// random returns a schema with a definition to refer to.
func (m maker) random() string {
	text := strings.TrimSuffix(m.schema(3), "}")
	if text != "{" {
		text += ","
	}
	return text + m.one("", "", `"$schema":"http://json-schema.org/draft-07/schema#",`) + `"$defs":{"d":` + m.schema(1) + `}}`
}

// A plan must agree with the library on every schema that it checks completely.
func TestPlan_AgreesWithLibrary(t *testing.T) {
	t.Parallel()
	for _, odd := range []bool{false, true} {
		m := maker{rand.New(rand.NewPCG(1, 2)), odd}
		judged, fitted := 0, 0
		for range 4_000 {
			text := m.random()
			s, resolved := compileSchema(json.RawMessage(text)), resolveByLibrary(text)
			if resolved == nil || !isFullyChecked(s) {
				continue
			}
			judged++
			for range 5 {
				raw := m.value(4)
				var value any
				if err := json.Unmarshal([]byte(raw), &value); err != nil {
					t.Fatalf("%s: %v", raw, err)
				}
				want := resolved.Validate(value)
				if want == nil {
					fitted++
				}
				r := newValidator(noContext, []byte(raw))
				got := r.validate(s.plan)
				if got == undecided || (got == valid) != (want == nil) {
					t.Fatalf("%s\n%s\nthe plan: %v; the library: %v", text, raw, got, want)
				}
				if said := r.explainInvalid(s.plan); got == valid && said != "" {
					t.Fatalf("%s\n%s\nfits, and it is said: %s", text, raw, said)
				}
			}
		}
		if judged < 2_000 || fitted < judged {
			t.Errorf("%d schemas were judged, %d values fitted: the test tests little", judged, fitted)
		}
	}
}

// isFullyChecked reports whether a schema is checked completely, but for large arguments.
func isFullyChecked(s *compiledSchema) bool {
	for _, u := range s.unchecked {
		if u.Reason != UncheckedCombination {
			return false
		}
	}
	return true
}

// resolveByLibrary compiles a schema with the library; nil if it cannot, or would not return.
func resolveByLibrary(text string) *jsonschema.Resolved {
	var root jsonschema.Schema
	if json.Unmarshal([]byte(text), &root) != nil {
		return nil
	}
	resolved, err := root.Resolve(nil)
	if err != nil {
		return nil
	}
	return resolved
}

// A keyword that is left out must accept more, never less.
func TestPartialPlan_AcceptsValidArguments(t *testing.T) {
	t.Parallel()
	m := maker{rand.New(rand.NewPCG(3, 4)), true}
	fitted, denied := 0, 0
	for range 4_000 {
		text := m.random()
		whole, resolved := compileSchema(json.RawMessage(text)), resolveByLibrary(text)
		if resolved == nil || !isFullyChecked(whole) {
			continue
		}
		// Go has no (?=).
		partly := compileSchema(json.RawMessage(strings.NewReplacer(`"^a"`, `"^a(?=)"`, `"^[ac]"`, `"^[ac](?=)"`, `"$ref":"#/$defs/d"`, `"$ref":"#d"`).Replace(text)))
		for range 5 {
			raw := m.value(4)
			var value any
			if err := json.Unmarshal([]byte(raw), &value); err != nil {
				t.Fatalf("%s: %v", raw, err)
			}
			r := newValidator(noContext, []byte(raw))
			switch got, fits := r.validate(partly.plan), resolved.Validate(value) == nil; {
			case fits && got == invalid, !fits && got == valid:
				t.Fatalf("%s\n%s\nfits: %v, and the plan says %v", text, raw, fits, got)
			case fits:
				fitted++
			case got == invalid:
				denied++
			}
		}
	}
	if fitted < 2_000 || denied < 2_000 {
		t.Errorf("%d values fitted, %d were refused: the test tests little", fitted, denied)
	}
}
