package toolchange_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"patchbay/internal/toolchange"
)

// compareInTime fails if a comparison is too slow.
func compareInTime(t *testing.T, before, now string) toolchange.Change {
	t.Helper()
	began := time.Now()
	c := toolchange.Compare([]byte(before), []byte(now), nil)
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
	return c
}

func toolJSON(schema string) string { return `{"name":"t","inputSchema":` + schema + `}` }

func TestCompare_HostileSchemasAreBounded(t *testing.T) {
	t.Parallel()
	deep := func(n int, core string) string {
		return toolJSON(strings.Repeat(`{"properties":{"a":`, n) + core + strings.Repeat(`}}`, n))
	}
	wide := func(n int, core string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `"p%d":%s,`, i, core)
		}
		return toolJSON(`{"properties":{` + b.String() + `"z":{}}}`)
	}
	// Each definition refers to the next one twice: 2^40 paths.
	doubling := func(core string) string {
		var b strings.Builder
		for i := range 40 {
			fmt.Fprintf(&b, `"d%d":{"properties":{"a":{"$ref":"#/$defs/d%d"},"b":{"$ref":"#/$defs/d%d"}}},`, i, i+1, i+1)
		}
		return toolJSON(`{"$ref":"#/$defs/d0","$defs":{` + b.String() + `"d40":` + core + `}}`)
	}
	circle := func(core string) string {
		return toolJSON(`{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"},"c":` + core + `}}`)
	}
	for name, pair := range map[string][2]string{
		"depth":                    {deep(5000, `{"type":"string"}`), deep(5000, `{"type":"number"}`)},
		"breadth":                  {wide(20_000, `{"type":"string"}`), wide(20_000, `{"type":"number"}`)},
		"references that double":   {doubling(`{"type":"string"}`), doubling(`{"type":"number"}`)},
		"references in a circle":   {circle(`{"type":"string"}`), circle(`{"type":"number"}`)},
		"a reference to itself":    {toolJSON(`{"$ref":"#"}`), toolJSON(`{"$ref":"#/nowhere"}`)},
		"a number beyond all":      {toolJSON(`{"minimum":1e999999999}`), toolJSON(`{"minimum":2e999999999}`)},
		"alternatives by the heap": {toolJSON(`{"anyOf":[` + strings.Repeat(`{"const":1},`, 20_000) + `{}]}`), toolJSON(`{"anyOf":[` + strings.Repeat(`{"const":2},`, 20_000) + `{}]}`)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := compareInTime(t, pair[0], pair[1])
			if c.Risk != toolchange.High {
				t.Errorf("what cannot be compared whole is risky: %v", c.Kinds)
			}
			if len(c.Differences) > 100 || c.More < 0 {
				t.Errorf("%d differences", len(c.Differences))
			}
		})
	}
}

func TestCompare_InvalidDefinitionIsRisky(t *testing.T) {
	t.Parallel()
	for _, now := range []string{"", "null", "[]", `"x"`, `{"name":`, `{"name":"t","inputSchema":7}`, `{"name":"t","inputSchema":{"properties":[]}}`} {
		if c := toolchange.Compare([]byte(toolJSON(`{}`)), []byte(now), nil); c.Risk != toolchange.High {
			t.Errorf("%q: %+v", now, c)
		}
	}
}

func TestCompare_LongTextIsFast(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"a", "ignore ", "before using this tool ", "user do not ", "http://", "a@", "\u200b", "a_"} {
		now := `{"name":"t","description":"` + strings.Repeat(word, 1<<19/len(word)) + `"}`
		if c := compareInTime(t, `{"name":"t","description":"x"}`, now); !c.Has(toolchange.Text) || !c.Has(toolchange.TypeChanged) {
			t.Errorf("%q: what is too long to be looked through is said to be: %v", word, c.Kinds)
		}
	}
}

// FuzzCompare checks that kinds are sorted, that equal definitions have none, and that a risky kind makes a risky change.
func FuzzCompare(f *testing.F) {
	files, err := filepath.Glob("testdata/changes/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		t := &testing.T{}
		s := readCase(t, file)
		f.Add(s.before, s.now)
	}
	names := toolchange.NewNames([]toolchange.Named{{Connector: "mail", Tool: "send_email"}}, nil)
	f.Fuzz(func(t *testing.T, before, now []byte) {
		c := toolchange.Compare(before, now, names)
		if !slices.IsSortedFunc(c.Kinds, func(a, b toolchange.Kind) int {
			return slices.Index(toolchange.Kinds(), a) - slices.Index(toolchange.Kinds(), b)
		}) {
			t.Errorf("kinds out of order: %v", c.Kinds)
		}
		if slices.Equal(before, now) && before != nil && len(c.Kinds) > 0 && !c.Has(toolchange.Other) && !c.Has(toolchange.NewTool) {
			t.Errorf("equal definitions have no difference: %v", c.Kinds)
		}
		for _, k := range c.Kinds {
			if k != toolchange.NewTool && k.Risk() == toolchange.High && c.Risk != toolchange.High {
				t.Errorf("%s is risky, and the change is %s", k, c.Risk)
			}
		}
	})
}

func BenchmarkCompare(b *testing.B) {
	const text = `{"name":"list_issues","description":"List issues. %s","inputSchema":{"type":"object","properties":{"owner":{"type":"string","description":"Repository owner"},"repo":{"type":"string","description":"Repository name"},"state":{"type":"string","enum":["OPEN","CLOSED"]},"perPage":{"type":"number","minimum":1,"maximum":100}},"required":["owner","repo"]},"annotations":{"readOnlyHint":true}}`
	before, now := fmt.Appendf(nil, text, "v1"), fmt.Appendf(nil, text, "v2")
	b.ReportAllocs()
	for b.Loop() {
		toolchange.Compare(before, now, nil)
	}
}
