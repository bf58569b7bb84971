package toolchange_test

import (
	"strings"
	"testing"

	"patchbay/internal/toolchange"
)

func TestExcerptAround_KeepsWordsWhole(t *testing.T) {
	t.Parallel()
	tail := strings.Repeat(" and so on", 20)
	for text, want := range map[string]string{
		"Before you use this tool, read IGNORE now":               "Before you use this tool, read IGNORE now",
		"A first part. Before you use this tool, read IGNORE now": "…Before you use this tool, read IGNORE now",
		"IGNORE what was said" + tail:                             "IGNORE what was said" + strings.Repeat(" and so on", 7) + " and so…",
		strings.Repeat("x", 60) + "IGNORE":                        "…" + strings.Repeat("x", 30) + "IGNORE",
		"IGNORE " + strings.Repeat("word ", 17) + "everlasting":   "IGNORE " + strings.Repeat("word ", 17) + "everlasting",
	} {
		from := strings.Index(text, "IGNORE")
		if have := toolchange.ExcerptAround(text, from, from+len("IGNORE")); have != want {
			t.Errorf("%q:\n have %q\n want %q", text, have, want)
		}
	}
}
