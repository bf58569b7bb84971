package i18n_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write en.json anew, and take out of the other catalogs what nobody says any more")

// catalog is a file: a text per key, or an object with plural forms.
func catalog(t *testing.T, code string) map[string]any {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("catalogs", code+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var texts map[string]any
	if err := json.Unmarshal(raw, &texts); err != nil {
		t.Fatalf("%s: %v", code, err)
	}
	return texts
}

func write(t *testing.T, code string, texts map[string]any) {
	t.Helper()
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(texts); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join("catalogs", code+".json"), out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// english is en.json, which maps each key to itself.
func english(t *testing.T) map[string]any {
	t.Helper()
	texts := map[string]any{}
	for key, u := range keysOfCode(t) {
		if texts[key] = key; u.one != "" {
			texts[key] = map[string]any{"one": u.one, "other": key}
		}
	}
	return texts
}

// englishForm is the English form to compare with: the same one, or "other".
func englishForm(text any, form string) string {
	forms, ok := text.(map[string]any)
	if !ok {
		return text.(string)
	}
	if form == "one" {
		return forms["one"].(string)
	}
	return forms["other"].(string)
}

var formatVerb = regexp.MustCompile(`%(\[\d+\])?[-+# 0]*[\d.]*[a-zA-Z%]`)

// sameShape checks that a translation has the verbs and bars of its key. Numbered verbs may be reordered.
func sameShape(t *testing.T, code, key, english, text string) {
	t.Helper()
	have, want := formatVerb.FindAllString(text, -1), formatVerb.FindAllString(english, -1)
	slices.Sort(have)
	slices.Sort(want)
	if have, want = slices.Compact(have), slices.Compact(want); !slices.Equal(have, want) && !isRenumbered(have, want) {
		t.Errorf("%s.json: %q has the verbs %v, and %q has %v", code, text, have, english, want)
	}
	if strings.Count(text, "|") != strings.Count(english, "|") {
		t.Errorf("%s.json: %q is not in as many parts as %q", code, text, key)
	}
	if strings.TrimSpace(text) == "" {
		t.Errorf("%s.json: %q is empty", code, key)
	}
}

// isRenumbered reports whether the verbs are equal but for numbers.
func isRenumbered(have, want []string) bool {
	plain := func(list []string) []string {
		out := make([]string, len(list))
		for i, v := range list {
			out[i] = regexp.MustCompile(`\[\d+\]`).ReplaceAllString(v, "")
		}
		slices.Sort(out)
		return slices.Compact(out)
	}
	return slices.Equal(plain(have), plain(want))
}
