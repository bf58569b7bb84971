package connectors_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"patchbay/internal/connectors"
)

func TestMisleads_RefusesNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]string{
		"Linear":             nil,
		"👩‍🚀 crew":           nil, // joined by U+200D
		"نرم\u200cافزار":     nil,
		"a\u202eraenil":      {"name"},
		"Line\u200bar":       {"name"},
		"Line\u2066ar":       {"name"},
		"Linear\U000e0041":   {"name"},
		"Linear\u3164":       {"name"}, // a filler
		"Linear\u00ad tools": {"name"},
	} {
		if diff := cmp.Diff(want, fieldLocations(newDraft(func(d *connectors.Draft) { d.Name, d.Slug = name, "x" }).Validate())); diff != "" {
			t.Errorf("%q: %s", name, diff)
		}
	}
}

func TestVisible_EscapesHiddenCharacters(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"plain": "plain", "a\u202eb": `a\u202eb`, "tag\U000e0041": `tag\udb40\udc41`, "filler\u3164": `filler\u3164`} {
		if got := connectors.Visible(text, connectors.Hidden); got != want {
			t.Errorf("%q is shown as %s, want %s", text, got, want)
		}
	}
}
