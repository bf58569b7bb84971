//go:build !race

// The race detector finds nothing in these computations and takes ten times as long.

package i18n_test

import (
	"maps"
	"patchbay/internal/i18n"
	"slices"
	"testing"
)

func TestTheListOfKeysIsWhatTheCodeSays(t *testing.T) {
	want := english(t)
	if *update {
		write(t, "en", want)
		for _, l := range i18n.Languages[1:] {
			texts := catalog(t, l.Code)
			maps.DeleteFunc(texts, func(key string, _ any) bool { return want[key] == nil })
			write(t, l.Code, texts)
		}
	}
	have := catalog(t, "en")
	for key := range want {
		if have[key] == nil {
			t.Errorf("en.json lacks %q: run go test ./internal/i18n -update", key)
		}
	}
	for key := range have {
		if want[key] == nil {
			t.Errorf("en.json has %q, which nobody says: run go test ./internal/i18n -update", key)
		}
	}
}

func TestEveryLanguageSaysWhatEnglishSays(t *testing.T) {
	want := english(t)
	for _, l := range i18n.Languages[1:] {
		have := catalog(t, l.Code)
		for _, key := range slices.Sorted(maps.Keys(want)) {
			switch text := have[key].(type) {
			case nil:
				t.Errorf("%s.json lacks %q", l.Code, key)
			case string:
				if _, count := want[key].(map[string]any); count {
					t.Errorf("%s.json has one form for the count %q", l.Code, key)
				}
				sameShape(t, l.Code, key, key, text)
			case map[string]any:
				for form, one := range text {
					sameShape(t, l.Code, key, englishForm(want[key], form), one.(string))
				}
				if text["other"] == nil {
					t.Errorf("%s.json has no form “other” of %q", l.Code, key)
				}
			}
		}
		for key := range have {
			if want[key] == nil {
				t.Errorf("%s.json has %q, which nobody says", l.Code, key)
			}
		}
	}
}
