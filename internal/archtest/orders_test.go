package archtest_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/archtest"
)

func TestEveryCallSaysWhereItComesFrom(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		made  string
		wrong bool
	}{
		"a call":                     {"toolcall.Order{View: nil, From: nil}", false},
		"a call from nowhere":        {"toolcall.Order{View: nil}", true},
		"a question from nowhere":    {"toolcall.Query{View: nil, Kind: nil}", true},
		"none, beside an error":      {"toolcall.Order{}", false},
		"its address":                {"&toolcall.Order{View: nil}", true},
		"another room's of the name": {"other.Order{View: nil}", false},
	} {
		text := "package a\nimport \"patchbay/internal/toolcall\"\nvar o = " + tc.made
		var want []string
		if tc.wrong {
			want = []string{"door/a.go:3: a call says where it comes from: From"}
		}
		have, err := archtest.CheckFile(plan, "door", "a.go", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, have); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
