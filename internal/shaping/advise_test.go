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
