package agentview_test

import (
	"slices"
	"strings"
	"testing"

	"patchbay/internal/agentview"
	"patchbay/internal/connectors"
)

func TestUnchecked_NamesOmittedParts(t *testing.T) {
	t.Parallel()
	for schema, want := range map[string][]string{
		issueSchema: nil,
		`{"properties":{"a/b":{"pattern":"` + strings.Repeat("(?:.?.?){999}", 3) + `"}}}`:                 {"/properties/a~1b/pattern pattern_too_large"},
		`{"properties":{"a":{"pattern":"(?=x)"}}}`:                                                        {"/properties/a/pattern pattern_not_supported"},
		`{"items":{"$ref":"https://example.org/x"}}`:                                                      {"/items/$ref reference_not_followed"},
		`{"$dynamicRef":"#x"}`:                                                                            {" reference_not_followed"},
		`{"allOf":[{"$ref":"#"}]}`:                                                                        {"/allOf/0 reference_endless"},
		`{"$schema":"http://json-schema.org/draft-04/schema#"}`:                                           {"/$schema dialect_not_supported"},
		`{"properties":{"a":{"type":"any"}},"minProperties":-1}`:                                          {"/properties/a/type keyword_not_valid", "/minProperties keyword_not_valid"},
		`{"enum":["` + strings.Repeat("x", 100_000) + `"]}`:                                               {"/enum schema_too_large"},
		`{"description":"` + strings.Repeat("x", 2<<20) + `"}`:                                            {" schema_too_large"},
		`{"properties":{"a":{"anyOf":[{"$ref":"#"},{"$ref":"#"}]}}}`:                                      {"/properties/a arguments_too_large"},
		`{"properties":{"next":{"$ref":"#"},"n":{"type":"integer"}},"additionalProperties":{"$ref":"#"}}`: nil,
	} {
		var got []string
		for _, u := range tool(t, schema).Unchecked() {
			got = append(got, u.Pointer+" "+u.Reason)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%.80s: %q, want %q", schema, got, want)
		}
	}
}

func TestValidateAll_ReportsArgumentsTooLargeToCheck(t *testing.T) {
	t.Parallel()
	plain, large := `{"type":"object","properties":{"a":{"type":"array","items":{"type":"integer"}}}}`, `{"a":[1`+strings.Repeat(",1", 1<<20)+`]}`
	unique := `{"type":"object","propertyNames":{"minLength":1},"maxProperties":9}`
	for name, c := range map[string]struct {
		schema, arguments string
		all               bool
	}{
		"small":                  {plain, `{"a":[1]}`, true},
		"many items":             {plain, large, false},
		"a name above 1 MiB":     {unique, `{"` + strings.Repeat("n", 2<<20) + `":1}`, false},
		"any object":             {"", large, true},
		"refused, and no object": {plain, `[]`, true},
	} {
		all, err := tool(t, c.schema).ValidateAll(t.Context(), []byte(c.arguments), true)
		if all != c.all || err != nil && c.arguments[0] == '{' {
			t.Errorf("%s: %v, %v", name, all, err)
		}
	}
}

func TestWhy_NamesUncheckedParts(t *testing.T) {
	t.Parallel()
	b := newTestEnv(t)
	agent, c := b.Agent(t), b.Connector(t, slug("c"))
	b.storeSync(t, c.ID, defs(`{"name":"odd","inputSchema":{"pattern":"(?=x)"}}`), valid)
	b.Grant(t, agent.ID, c.ID)
	access, err := b.cache.ExplainTool(t.Context(), b.Tenant, connectors.Ref(agent.Slug), connectors.ExposedName("c", "odd"))
	if want := (agentview.UncheckedPart{Pointer: "/pattern", Reason: agentview.UncheckedSyntax}); err != nil || len(access.Unchecked) != 1 || access.Unchecked[0] != want {
		t.Errorf("%v, %v", access.Unchecked, err)
	}
}
