package toolchange_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/toolchange"
)

func TestDiffText_ComparesWords(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		before, now string
		want        string
	}{
		{"", "", ""},
		{"a b", "a b", "a b"},
		{"", "new text", "+[new text]"},
		{"old", "", "-[old]"},
		{"List issues.", "List all issues.", "List +[all ]issues."},
		{"Send to the user.", "Send to nobody.", "Send to -[the user]+[nobody]."},
	} {
		var got strings.Builder
		for _, s := range toolchange.DiffText(tc.before, tc.now) {
			switch s.Op {
			case toolchange.Deleted:
				got.WriteString("-[" + s.Text + "]")
			case toolchange.Inserted:
				got.WriteString("+[" + s.Text + "]")
			default:
				got.WriteString(s.Text)
			}
		}
		if got.String() != tc.want {
			t.Errorf("%q → %q: %s, want %s", tc.before, tc.now, got.String(), tc.want)
		}
	}
}

func TestDiffText_KeepsEveryCharacter(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word, ", 5000)
	for _, pair := range [][2]string{{"a\u200bb c", "a c\u200b"}, {"x" + long, long + "y"}, {long, strings.ReplaceAll(long, "o", "u")}, {"\xff a", "a \xfe"}} {
		var before, now strings.Builder
		for _, s := range toolchange.DiffText(pair[0], pair[1]) {
			if s.Op != toolchange.Inserted {
				before.WriteString(s.Text)
			}
			if s.Op != toolchange.Deleted {
				now.WriteString(s.Text)
			}
		}
		if diff := cmp.Diff(pair, [2]string{before.String(), now.String()}); diff != "" {
			t.Errorf("%.100s", diff)
		}
	}
}
