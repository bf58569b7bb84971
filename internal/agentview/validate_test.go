package agentview_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"patchbay/internal/agentview"
	"patchbay/internal/fault"
)

func tool(t testing.TB, schema string) *agentview.Tool {
	t.Helper()
	raw := `{"name":"t"}`
	if schema != "" {
		raw = `{"name":"t","inputSchema":` + schema + `}`
	}
	return agentview.NewTestTool([]byte(raw))
}

const issueSchema = `{"type":"object","required":["title"],"additionalProperties":false,"properties":{
	"title":{"type":"string","minLength":1,"maxLength":20},
	"labels":{"type":"array","items":{"type":"string"},"maxItems":3},
	"priority":{"type":"integer","minimum":1,"maximum":5},
	"state":{"enum":["open","closed"]},
	"assignee":{"type":["string","null"]},
	"code":{"type":"string","pattern":"^[A-Z]{3}$"},
	"where":{"$ref":"#/$defs/place"},
	"due":{"anyOf":[{"type":"string","pattern":"^[0-9-]+$"},{"type":"integer"}]}
	},"$defs":{"place":{"type":"object","properties":{"lat":{"type":"number"}},"required":["lat"]}}}`

func TestValidate_AcceptsValidArguments(t *testing.T) {
	t.Parallel()
	for schema, list := range map[string][]string{
		issueSchema: {
			`{"title":"a"}`, `{"title":"a","labels":["x"],"priority":3,"state":"open","assignee":null,"where":{"lat":1.5},"due":"2026-01-31"}`,
			`{"title":"a","priority":2.0}`, ` {"title":"é😀"} `, `{"title":"a","due":7}`,
			`{"title":"a","priority":null,"code":null}`,
		},
		`{"type":"object"}`: {`{}`, ``, `{"n":123456789012345678901234567890}`, ` `},
		"":                  {`{}`, `{"a":{"b":[1]}}`},
		`{"type":"object","properties":{"n":{"type":"integer"}}}`: {`{"n":9007199254740993}`, `{"n":1e3}`},
	} {
		for _, arguments := range list {
			if err := tool(t, schema).Validate(t.Context(), json.RawMessage(arguments)); err != nil {
				t.Errorf("%s refuses %s: %v", schema, arguments, err)
			}
		}
	}
}

func TestValidateAll_ParsedArgumentsGiveSameResult(t *testing.T) {
	t.Parallel()
	issue := tool(t, issueSchema)
	for _, arguments := range []string{``, `{}`, `{"title":"a"}`, `{"title":7}`, `[]`, `null`, `7`, `{"title":"a","title":"b"}`, `{"title":"a","other":1}`} {
		_, got := issue.ValidateAll(t.Context(), json.RawMessage(arguments), true)
		want := issue.Validate(t.Context(), json.RawMessage(arguments))
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %v, and else %v", arguments, got, want)
		}
	}
}

func TestValidate_NamesPathOfInvalidArgument(t *testing.T) {
	t.Parallel()
	issue := tool(t, issueSchema)
	for arguments, want := range map[string]string{
		`{}`:                                 `The argument "title" is missing.`,
		`{"title":null}`:                     `The argument "title" must be a string.`,
		`{"title":"a","labels":[null]}`:      `The argument "labels[0]" must be a string.`,
		`{"title":7}`:                        `The argument "title" must be a string.`,
		`{"title":""}`:                       `The argument "title" must have at least 1 character.`,
		`{"title":"a","labels":["x",1]}`:     `The argument "labels[1]" must be a string.`,
		`{"title":"a","labels":"x"}`:         `The argument "labels" must be an array.`,
		`{"title":"a","priority":1.5}`:       `The argument "priority" must be an integer.`,
		`{"title":"a","priority":9}`:         `The argument "priority" must be at most 5.`,
		`{"title":"a","state":"gone"}`:       `The argument "state" must be one of "open", "closed".`,
		`{"title":"a","assignee":1}`:         `The argument "assignee" must be a string or null.`,
		`{"title":"a","where":{}}`:           `The argument "where.lat" is missing.`,
		`{"title":"a","where":{"lat":"x"}}`:  `The argument "where.lat" must be a number.`,
		`{"title":"a","more":1}`:             `The argument "more" isn't a parameter of this tool.`,
		`{"title":"a","due":"tomorrow"}`:     `The argument "due" matches none of the forms in the tool's schema.`,
		`{"title":"a","code":"x"}`:           `The argument "code" doesn't match the form in the tool's schema.`,
		`{"title":"a","due":[]}`:             `The argument "due" matches none of the forms in the tool's schema.`,
		`[]`:                                 `The arguments must be an object.`,
		`null`:                               `The arguments must be an object.`,
		`{"title":`:                          `The arguments aren't valid JSON.`,
		`{"title":"a","labels":[1,"secret"]`: `The arguments aren't valid JSON.`,
	} {
		err := issue.Validate(t.Context(), json.RawMessage(arguments))
		if !fault.Is(err, fault.Invalid) || err.Error() != want {
			t.Errorf("%s: %v, want %s", arguments, err, want)
		}
	}
}

func TestValidate_DoesNotEchoValues(t *testing.T) {
	t.Parallel()
	err := tool(t, issueSchema).Validate(t.Context(), json.RawMessage(`{"title":"hunter2 hunter2 hunter2 hunter2","due":"hunter2"}`))
	if err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("%v", err)
	}
}

// A schema that cannot be used accepts every object: the server still checks it.
func TestValidate_UnusableSchemaAcceptsAll(t *testing.T) {
	t.Parallel()
	for name, schema := range map[string]string{
		"no schema":           `{"type":7}`,
		"another document":    `{"$ref":"https://example.com/schema.json"}`,
		"a missing part":      `{"$ref":"#/$defs/none"}`,
		"itself":              `{"$ref":"#"}`,
		"itself, by a detour": `{"$defs":{"a":{"allOf":[{"$ref":"#/$defs/b"}]},"b":{"anyOf":[{"$ref":"#/$defs/a"}]}},"$ref":"#/$defs/a"}`,
		"dynamic":             `{"$dynamicRef":"#node","$dynamicAnchor":"node"}`,
		"a bad pattern":       `{"properties":{"a":{"type":"string","pattern":"(?<=x)y"}}}`,
		"an older dialect":    `{"$schema":"http://json-schema.org/draft-04/schema#","required":["a"]}`,
		"a bomb":              bomb(40),
	} {
		if err := tool(t, schema).Validate(t.Context(), json.RawMessage(`{"a":"b","x":{"x":{"x":{"x":[]}}}}`)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Of two equal members a parser takes the last, and a server may take the first.
func TestValidate_RefusesDuplicateMembers(t *testing.T) {
	t.Parallel()
	const (
		properties = `"properties":{"path":{"enum":["safe"]},"in":{}}`
		planned    = `{"type":"object",` + properties + `}`
		odd        = `{"type":"object","minProperties":1,` + properties + `}`
		unknown    = `{"$schema":"http://json-schema.org/draft-04/schema#"}`
	)
	for _, schema := range []string{planned, odd, unknown} {
		for _, arguments := range []string{`{"path":"evil","path":"safe"}`, `{"path":"evil","p\u0061th":"safe","in":1}`} {
			err := tool(t, schema).Validate(t.Context(), json.RawMessage(arguments))
			if !fault.Is(err, fault.Invalid) || err.Error() != "Duplicate key in the arguments." {
				t.Errorf("%s takes %s: %v", schema, arguments, err)
			}
		}
		if err := tool(t, schema).Validate(t.Context(), json.RawMessage(`{"path":"safe","in":[{"a":1},{"a":[]}]}`)); err != nil {
			t.Errorf("%s: %v", schema, err)
		}
	}
	if err := tool(t, odd).Validate(t.Context(), json.RawMessage(`{"in":[{"a":1,"b":{"a":1,"a":2}}]}`)); err == nil {
		t.Error("a member stands twice further down")
	}
}

func TestValidate_NumberBeyondFloat64(t *testing.T) {
	t.Parallel()
	const properties = `"properties":{"path":{"enum":["safe"]},"n":{"type":"number"}}`
	for _, schema := range []string{`{"type":"object",` + properties + `}`, `{"type":"object","minProperties":1,` + properties + `}`} {
		if err := tool(t, schema).Validate(t.Context(), json.RawMessage(`{"path":"evil","n":1e999}`)); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", schema, err)
		}
	}
}

// bomb returns a schema that doubles the work with each of n steps.
func bomb(n int) string {
	var b strings.Builder
	b.WriteString(`{"$ref":"#/$defs/d0","$defs":{`)
	for i := range n {
		next := `{"type":"object"}`
		if i < n-1 {
			ref := `{"$ref":"#/$defs/d` + json.Number(itoa(i+1)).String() + `"}`
			next = `{"anyOf":[` + ref + `,` + ref + `]}`
		}
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString(`"d` + itoa(i) + `":` + next)
	}
	b.WriteString(`}}`)
	return b.String()
}

func itoa(i int) string {
	b, err := json.Marshal(i)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// A recursive schema must not cost a power of the value's depth.
func TestValidate_RecursiveSchemaIsFast(t *testing.T) {
	t.Parallel()
	forked := tool(t, `{"type":"object","properties":{"a":{"anyOf":[{"$ref":"#"},{"$ref":"#"},{"type":"string"}]}}}`)
	arguments := strings.Repeat(`{"a":`, 200) + `1` + strings.Repeat(`}`, 200)
	if err := forked.Validate(t.Context(), json.RawMessage(arguments)); err != nil {
		t.Errorf("what costs too much to check: %v", err)
	}
	own := agentview.CompileSchema(forked.InputSchema)
	if err := own.Check(t.Context(), json.RawMessage(arguments)); err == nil || !strings.Contains(err.Error(), "too large or deep to check") {
		t.Errorf("what costs too much to check, of a tool of our own: %v", err) // no server checks it again
	}
	tree := tool(t, `{"type":"object","properties":{"next":{"$ref":"#"},"n":{"type":"integer"}}}`)
	if err := tree.Validate(t.Context(), json.RawMessage(`{"next":{"next":{"n":"x"}}}`)); err == nil || err.Error() != `The argument "next.next.n" must be an integer.` {
		t.Errorf("%v", err)
	}
}

// deep returns nested objects.
func deep(levels int) string {
	return strings.Repeat(`{"a":`, levels) + "1" + strings.Repeat("}", levels)
}

func TestValidate_ChecksOversizedSchemaInPart(t *testing.T) {
	t.Parallel()
	const (
		// Each level doubles the work.
		doubling = `{"type":"object","required":["title"],"properties":{"title":{"type":"string"},"x":{"$ref":"#/$defs/x"}},
			"oneOf":[{"required":["title"]}],"$defs":{"x":{"anyOf":[{"properties":{"a":{"$ref":"#/$defs/x"}}},{"properties":{"a":{"$ref":"#/$defs/x"}}}]}}}`
		planned = `{"type":"object","required":["title"],"properties":{"title":{"type":"string"},"x":{"$ref":"#/$defs/x"}},
			"$defs":{"x":{"anyOf":[{"properties":{"a":{"$ref":"#/$defs/x"}},"required":["no"]},{"properties":{"a":{"$ref":"#/$defs/x"}},"required":["no"]}]}}}`
		endless   = `{"type":"object","required":["title"],"properties":{"title":{"type":"string"}},"allOf":[{"$ref":"#"}]}`
		elsewhere = `{"type":"object","required":["title"],"properties":{"title":{"type":"string"},"x":{"$ref":"https://example.org/x"}}}`
	)
	for name, tc := range map[string]struct{ schema, arguments, want string }{
		"deep arguments, and the title is right":  {doubling, `{"title":"a","x":` + deep(60) + `}`, ""},
		"deep arguments, and the title is wrong":  {doubling, `{"title":1,"x":` + deep(60) + `}`, `"title" must be a string`},
		"arguments that keep the checker busy":    {planned, `{"title":"a","x":` + deep(60) + `}`, ""},
		"a schema that never ends, right":         {endless, `{"title":"a"}`, ""},
		"a schema that never ends, wrong":         {endless, `{"title":1}`, `"title" must be a string`},
		"a schema that never ends, null":          {endless, `{"title":"a","more":null}`, ""},
		"a schema with a part elsewhere, right":   {elsewhere, `{"title":"a","x":1}`, ""},
		"a schema with a part elsewhere, missing": {elsewhere, `{"x":1}`, `"title" is missing`},
		"a list that is long, and no more":        {`{"type":"object","properties":{"l":{"type":"array","items":{"type":"integer"}}}}`, `{"l":[1` + strings.Repeat(",1", 600_000) + `]}`, ""},
	} {
		err := tool(t, tc.schema).Validate(t.Context(), json.RawMessage(tc.arguments))
		switch {
		case tc.want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case tc.want != "" && (!fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), tc.want)):
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
}
