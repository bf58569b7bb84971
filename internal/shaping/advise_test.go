package shaping_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/shaping"
)

func TestAdviseNamesLargeFields(t *testing.T) {
	row := fmt.Sprintf(`{"id":1,"body_html":%q,"user":{"login":"ann","my-url":%q}}`, strings.Repeat("x", 700), strings.Repeat("y", 200))
	results := []json.RawMessage{textResult(`{"items":[`+row+","+row+`]}`, ""), textResult("[", ""), textResult(`{"error":"none"}`, `,"isError":true`)}
	got := shaping.Advise(results)
	want := []shaping.Advice{{Field: ".items[].body_html", Percent: 74}, {Field: ".items[].user", Percent: 24}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
	for _, a := range append(got, shaping.Advise([]json.RawMessage{textResult("["+row+"]", "")})...) {
		rule := shaping.Rule{Fields: filter(t, a.Filter())}
		raw := results[0]
		if strings.HasPrefix(a.Field, "[]") {
			raw = textResult("["+row+"]", "")
		}
		if s, ok := rule.Shape(t.Context(), raw, notice); !ok || s.FilterFailed || s.Fields == 0 {
			t.Errorf("%s leaves out nothing: %q", a.Filter(), s.Summary())
		}
	}
	if got := shaping.Advise(nil); got != nil {
		t.Errorf("without answers: %v", got)
	}
}

// A field is within another one only below it, and a name may contain what a path does.
func TestAdviseTellsNamesFromPaths(t *testing.T) {
	x := func(n int) string { return strings.Repeat("x", n) }
	for name, row := range map[string]struct {
		doc  string
		want []string
	}{
		"a name begins as another one":   {fmt.Sprintf(`{"id":1,"body":%q,"body_html":%q,"other":%q}`, x(4900), x(2400), x(1800)), []string{".body", ".body_html", ".other"}},
		"a name begins as the largest":   {fmt.Sprintf(`{"a":{"b":%q},"ab":1}`, x(5000)), []string{".a.b"}},
		"a name ends as an array":        {fmt.Sprintf(`{"items[]":%q,"b":%q}`, x(5000), x(3000)), []string{`.["items[]"]`, ".b"}},
		"a name of brackets in an array": {fmt.Sprintf(`[{"a":{"[]\"[]":%q},"b":%q}]`, x(5000), x(3000)), []string{`[].a`, "[].b"}},
	} {
		result := textResult(row.doc, "")
		advice := shaping.Advise([]json.RawMessage{result})
		var got []string
		for _, a := range advice {
			got = append(got, a.Field)
			if s, ok := (shaping.Rule{Fields: filter(t, a.Filter())}).Shape(t.Context(), result, notice); !ok || s.FilterFailed || s.Fields == 0 {
				t.Errorf("%s: %s leaves out nothing: %q", name, a.Filter(), s.Summary())
			}
		}
		if diff := cmp.Diff(row.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestAdviceExtendsAFilter(t *testing.T) {
	a := shaping.Advice{Field: ".items[].body"}
	for typed, want := range map[string]string{
		"":                      "del(.items[]?.body?)",
		" \n":                   "del(.items[]?.body?)",
		"del(.b?)":              "del(.b?) | del(.items[]?.body?)",
		"{items} # chosen":      "{items} # chosen\n| del(.items[]?.body?)",
		".items |= map({id,b})": ".items |= map({id,b}) | del(.items[]?.body?)",
	} {
		got, adds := a.Extend(typed)
		if got != want || !adds {
			t.Errorf("%q: %q, want %q", typed, got, want)
		}
		if again, adds := a.Extend(got); again != got || adds {
			t.Errorf("%q, again: %q", typed, again)
		}
		filter(t, got)
	}
}
