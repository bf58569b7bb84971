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
		"a call":                     {"toolcall.CallRequest{View: nil, Origin: nil}", false},
		"a call from nowhere":        {"toolcall.CallRequest{View: nil}", true},
		"a question from nowhere":    {"toolcall.UpstreamRequest{View: nil, Kind: nil}", true},
		"none, beside an error":      {"toolcall.CallRequest{}", false},
		"its address":                {"&toolcall.CallRequest{View: nil}", true},
		"another room's of the name": {"other.CallRequest{View: nil}", false},
	} {
		text := "package a\nimport \"patchbay/internal/toolcall\"\nvar o = " + tc.made
		var want []string
		if tc.wrong {
			want = []string{"door/a.go:3: a call says where it comes from: Origin"}
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
