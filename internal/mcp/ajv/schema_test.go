package ajv_test

import (
	"fmt"
	"strings"
	"testing"

	"patchbay/internal/mcp/ajv"
)

func TestCompiles(t *testing.T) {
	t.Parallel()
	for _, schema := range []string{
		`{"type":"object"}`,
		`{"type":"object","properties":{"id":{"type":["string","null"],"nullable":true,"format":"date-time","minLength":1}},"required":["id"]}`,
		`{"type":"object","$defs":{"n":{"properties":{"n":{"$ref":"#/$defs/n"}}}},"properties":{"n":{"$ref":"#/$defs/n"}}}`,
		`{"type":"object","if":{},"contains":false,"items":[{}],"additionalItems":false,"prefixItems":7,"patternProperties":{"^x-":true},"const":{"a":[1]},"anyOf":[true]}`,
		`{"type":"object","dependencies":{"a":["b"],"c":{}},"enum":[{}],"uniqueItems":true,"description":7,"default":{"$ref":7},"examples":"none"}`,
		`{"type":"object","allOf":[{"$ref":"#"}]}`,
		`{"type":"object","properties":{"n":{"type":"integer","minimum":-9007199254740991,"maximum":9007199254740991}}}`, // as Zod 4 writes
	} {
		if !ajv.Compiles([]byte(schema)) {
			t.Errorf("%s is refused", schema)
		}
	}
}

// Ajv fails for each of these, or may fail.
func TestCompiles_RefusedSchemas(t *testing.T) {
	t.Parallel()
	for _, schema := range []string{
		``, `true`, `[]`, `{}`, `{"type":"array"}`, `{"type":["object"]}`,
	} {
		if ajv.Compiles([]byte(schema)) {
			t.Errorf("%s is accepted", schema)
		}
	}
	for _, property := range []string{
		`null`, `7`, `[]`, `{"type":"strng"}`, `{"type":7}`, `{"type":[]}`, `{"pattern":"(?i)x"}`, `{"pattern":7}`, `{"patternProperties":{"[":{}}}`,
		`{"$ref":"#/definitions/x"}`, `{"$ref":"https://x.test/y"}`, `{"$ref":7}`, `{"$ref":"#/properties/p"}`, `{"minLength":"x"}`, `{"maximum":null}`,
		`{"enum":"x"}`, `{"enum":[]}`, `{"required":true}`, `{"required":[7]}`, `{"format":7}`, `{"format":"constructor"}`,
		`{"id":"x"}`, `{"$id":"x"}`, `{"$anchor":"x"}`, `{"x":{"$id":"y"}}`, `{"nullable":true}`, `{"nullable":false,"type":"null"}`, `{"nullable":"x","type":"null"}`,
		`{"uniqueItems":1}`, `{"items":"x"}`, `{"items":[]}`, `{"anyOf":[]}`, `{"anyOf":{}}`, `{"not":7}`, `{"properties":[]}`, `{"dependencies":{"a":"b"}}`,
		`{"properties":{"__proto__":{}}}`, `{"$async":true}`, `{"maximum":1e99}`, `{"maximum":9007199254740992}`, `{"maximum":0.1234567890123456}`,
		strings.Repeat(`{"not":`, 70) + `{}` + strings.Repeat(`}`, 70),
	} {
		if ajv.Compiles(fmt.Appendf(nil, `{"type":"object","properties":{"p":%s}}`, property)) {
			t.Errorf("%s is accepted", property)
		}
	}
}

func TestCompiles_Patterns(t *testing.T) {
	t.Parallel()
	compiles := func(pattern string) bool {
		return ajv.Compiles(fmt.Appendf(nil, `{"type":"object","pattern":%q}`, pattern))
	}
	for _, pattern := range []string{
		``, `^[\w.-]+$`, `^a{1,3}[^-a-f]$`, `(?<=a)b|\/`, `()*|(?:)`, `[--a]`, `[a-]`, `\d{4}-\d{2}?`, `^\p{L}+$`, `\u00e9\x20`, `é+?`, `[[]`, `(?=x)`, `\bx\B`,
	} {
		if !compiles(pattern) {
			t.Errorf("%s is refused", pattern)
		}
	}
	for _, pattern := range []string{
		`(?i)x`, `(?P<n>x)`, `[a-\d]`, `[\w-a]`, `[b-a]`, `[`, `(`, `)`, `]`, `{`, `}`, `*`, `a**`, `a{2,1}`, `a{,2}`, `a{9999999}`, `^*`, `(?=x)*`, `\-`, `\Z`, `\1`, `\ud800`, `a\`,
		`(?<n>x)(?<n>y)`, `[[a-z]-x]`, strings.Repeat("(", 100) + strings.Repeat(")", 100), strings.Repeat("a", 5000),
	} {
		if compiles(pattern) {
			t.Errorf("%s is accepted", pattern)
		}
	}
}
